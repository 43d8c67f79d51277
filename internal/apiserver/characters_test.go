package apiserver

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// TestUnreadable compares isUnreadable with the parser that reads what Helm sends, for every character of the basic plane and the ends of
// the others.
func TestUnreadable(t *testing.T) {
	check := func(r rune) {
		text, err := json.Marshal(map[string]string{"k": "a" + string(r) + "b"})
		if err != nil {
			t.Fatal(err)
		}
		var out map[string]any
		err = yaml.UnmarshalStrict(text, &out)
		if refused := err != nil && strings.Contains(err.Error(), "control characters are not allowed"); refused != isUnreadable(r) {
			t.Errorf("%U: the parser says %v", r, err)
		}
	}
	for r := range rune(0x10000) {
		if r < 0xD800 || r > 0xDFFF {
			check(r)
		}
	}
	for plane := rune(0x10000); plane <= 0x100000; plane += 0x10000 {
		for _, r := range []rune{0, 0xFFFD, 0xFFFE, 0xFFFF} {
			check(plane + r)
		}
	}
}

func TestUnreadablePlaces(t *testing.T) {
	object := map[string]any{
		"data": map[string]any{"a": "x\x7f", "b": "x\t\u0085"},
		"list": []any{map[string]any{"k\ufffe": "x"}, "\u0080", int64(1), nil},
	}
	if diff := cmp.Diff(`data.a, list[0]["k\ufffe"], list[1]`, JoinPaths(Unreadable(object, nil))); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}

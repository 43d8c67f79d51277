package verdict

import (
	"encoding/base64"
	"testing"
)

// TestHoldsText checks that the text of an unknown value is found wherever a chart may put it.
func TestHoldsText(t *testing.T) {
	const unknown = "helmdrift-unknown-0"
	encode := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for value, want := range map[any]bool{
		"x": false, nil: false, int64(3): false, unknown: true, "postgres://u:" + unknown + "@db": true,
		encode("p=" + unknown + "\n"): true, encode("nothing"): false,
	} {
		if got := holdsText(value, unknown); got != want {
			t.Errorf("%v: %t", value, got)
		}
		if got := holdsText(map[string]any{"a": []any{map[string]any{"b": value}}}, unknown); got != want {
			t.Errorf("below a list, %v: %t", value, got)
		}
	}
	if !holdsText(map[string]any{unknown: "x"}, unknown) {
		t.Error("a key was not looked at")
	}
}

package argo

import (
	"slices"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/internal/ignore"
)

// TestPointers checks which jsonPointers become rules: Argo CD removes nothing by a pointer without a slash, overlooks what stands before the
// first one, and takes * for a letter.
func TestPointers(t *testing.T) {
	const head = "apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop}"
	for pointers, want := range map[string][]string{
		"[/data/a, data, \"\", /data/*, '#/data/c']": {"/data/a", "/data/*", "/data/c"},
		"[data]": nil,
	} {
		p := planOf(t, "[{kind: ConfigMap, jsonPointers: "+pointers+"}]", "{"+head+", data: {a: '1'}}", "{"+head+", data: {a: '2'}}")
		texts := p.rules()
		if want == nil {
			if len(texts) > 0 {
				t.Errorf("%s: %+v", pointers, texts)
			}
			continue
		}
		if len(texts) != 1 || !slices.Equal(texts[0].Paths, want) {
			t.Fatalf("%s: %+v, want %q", pointers, texts, want)
		}
		rules, warnings := ignore.ReadRules("test", texts, time.Now())
		if len(rules) != 1 || len(warnings) > 0 {
			t.Errorf("%s: %+v, %v", pointers, rules, warnings)
		}
		if _, err := ignore.ParsePointer(want[1]); err != nil || !texts[0].Literal {
			t.Errorf("%s: %+v, %v", pointers, texts[0], err)
		}
	}
}

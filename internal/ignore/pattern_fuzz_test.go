package ignore

import (
	"testing"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// FuzzPattern checks that parsing ends for any text, and that any pattern can be compared with an object.
func FuzzPattern(f *testing.F) {
	for _, text := range []string{"", "/", "/spec/replicas", "/a~1b/~0", `/l/[name=a,v="x,\"]"]/0/*`, "/x*/[", "/a/[=]", "/a/[b=c"} {
		f.Add(text)
	}
	live := map[string]any{"a": map[string]any{"b": int64(1)}, "l": []any{map[string]any{"name": "a", "v": "x"}, "m", nil}}
	path := object.Path{}.Field("l").Item([]object.ListKey{{Name: "name", Value: "a"}})
	deployment := kinds.Native().Shape(object.Ref{Key: object.Key{Group: "apps", Kind: "Deployment"}, Version: "v1"}.GVK())
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePattern(text)
		if err != nil {
			return
		}
		if covers := p.covers(path, []any{live}); covers && !p.exists(live) {
			t.Errorf("%q covers %s and does not exist", text, path)
		}
		p.fits(deployment)
		if p.exists(live) && object.Equal(without(live, p.Tokens), live) {
			t.Errorf("%q exists and cannot be left out", text)
		}
	})
}

package kinds

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsbeta "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
)

// TestSchemaLeaves compares the canonical forms of random schemas with round trips through their Go types.
func TestSchemaLeaves(t *testing.T) {
	for _, leaf := range []reflect.Type{
		reflect.TypeFor[apiextensions.JSONSchemaPropsOrArray](), reflect.TypeFor[apiextensions.JSONSchemaPropsOrBool](),
		reflect.TypeFor[apiextensionsbeta.JSONSchemaPropsOrArray](), reflect.TypeFor[apiextensionsbeta.JSONSchemaPropsOrBool](),
	} {
		c := Native()
		c.mu.Lock()
		s := c.ofType(leaf)
		c.mu.Unlock()
		g := schemaGenerator{rand: rand.New(rand.NewPCG(1, 2)), schema: s.schema}
		certain := 0
		for range 5_000 {
			v := g.value(s, 0)
			want, wantOK := roundTrip(leaf, v)
			got, ok := s.Canonical(v)
			if d := cmp.Diff(want, got); ok != wantOK || ok && d != "" {
				t.Fatalf("%s: %v: ok %v, want %v (-want +got):\n%s", leaf, v, ok, wantOK, d)
			}
			if m, isMap := v.(map[string]any); isMap {
				if _, ok := s.schema.recoded(m); ok {
					certain++
				}
			}
		}
		if certain < 500 {
			t.Errorf("%s: only %d schemas needed no round trip", leaf, certain)
		}
	}
}

// schemaGenerator makes random values of the types in a schema, and now and then a value of another type.
type schemaGenerator struct {
	rand   *rand.Rand
	schema *Shape
}

// value returns a value that has the shape.
func (g schemaGenerator) value(s *Shape, depth int) any {
	if g.rand.IntN(100) == 0 {
		return []any{nil, "", "text", int64(0), int64(7), int64(1) << 60, int64(1) << 40, 1.5, 2.0, true, false, map[string]any{}, []any{}, []any{"a"},
			map[string]any{"unknown": "x"}}[g.rand.IntN(15)]
	}
	switch {
	case s.schema != nil && g.rand.IntN(10) > 0:
		return g.value(s.schema, depth)
	case s.Form == FormStruct:
		out := map[string]any{}
		for name, field := range s.Fields {
			if g.rand.IntN(len(s.Fields)) < 3 && depth < 6 {
				out[name] = g.value(field.Shape, depth+1)
			}
		}
		return out
	case s.Form == FormMap:
		out := map[string]any{}
		for range g.rand.IntN(3) {
			out[string(rune('a'+g.rand.IntN(9)))] = g.value(s.Elem, depth+1)
		}
		return out
	case s.Form == FormList:
		out := make([]any, g.rand.IntN(3))
		for i := range out {
			out[i] = g.value(s.Elem, depth+1)
		}
		return out
	}
	// One of these decodes into most leaves.
	for range 20 {
		v := []any{"text", int64(g.rand.IntN(3)), true, false, "", map[string]any{"a": int64(1)}, []any{map[string]any{}}}[g.rand.IntN(7)]
		if _, ok := s.Canonical(v); ok {
			return v
		}
	}
	return "text"
}

package repair

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// FuzzPlan checks that planning, patching, handing over and showing never panic, whatever JSON old, live and later reads have,
// and that every patch applies to live.
func FuzzPlan(f *testing.F) {
	for i, s := range samples(f) {
		if raw, err := json.Marshal(s.content); err == nil && len(raw) < 1500 {
			f.Add(raw, uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, old []byte, seed uint64) {
		var content map[string]any
		if utiljson.Unmarshal(old, &content) != nil || content == nil {
			t.Skip()
		}
		o := objectOf(content)
		if o.Name == "" {
			o.Name = "x"
		}
		rng := rand.New(rand.NewPCG(seed, 7))
		for _, serverSide := range []bool{false, true} {
			w := newSite(t, "", "", serverSide)
			w.old = []object.Object{o}
			if rng.IntN(2) == 0 {
				w.install(o)
			} else {
				w.live[o.Ref], _ = object.Copy(content).(map[string]any)
			}
			live, _ := mangle(rng, w.live[o.Ref]).(map[string]any)
			if live != nil && rng.IntN(3) > 0 {
				live["metadata"] = w.live[o.Ref]["metadata"]
			}
			w.live[o.Ref] = live
			checkPanics(t, rng, w)
		}
	})
}

func checkPanics(t *testing.T, rng *rand.Rand, w *site) {
	p, err := New(w.compare(), Options{Prune: rng.IntN(2) == 0})
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		for range 4 {
			live, _ := object.Copy(w.live[o.Ref]).(map[string]any)
			body, err := o.Patch(live)
			if err == nil && body != nil && (!json.Valid(body) || len(o.Changes) == 0) {
				t.Errorf("the patch is %s for %v", body, paths(o.Changes))
			}
			if body, err := o.HandOver(live); err == nil && body != nil && !json.Valid(body) {
				t.Errorf("the ownership patch is %s", body)
			}
			w.live[o.Ref], _ = mangle(rng, live).(map[string]any)
		}
		if _, err := o.Patch(nil); err == nil && len(o.Changes) > 0 {
			t.Error("a patch of nothing")
		}
	}
	if _, err := json.Marshal(p.Result(threeway.Mask{}, nil)); err != nil {
		t.Error(err)
	}
}

// mangle replaces something in a copy of a value by anything.
func mangle(rng *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, name := range object.SortedKeys(v) {
			if out[name] = v[name]; rng.IntN(5) > 0 {
				out[name] = mangle(rng, v[name])
			} else {
				out[name] = anything(rng, v[name])
			}
		}
		return out
	case []any:
		var out []any
		for _, item := range v {
			out = append(out, mangle(rng, item))
		}
		if len(v) > 0 && rng.IntN(4) == 0 {
			out = append(out, v[0])
		}
		return out
	}
	return v
}

func anything(rng *rand.Rand, v any) any {
	some := []any{nil, "", "x", "1e999", int64(1), int64(1) << 62, 1.5, true, []any{}, []any{v}, []any{nil}, []any{v, v}, map[string]any{}, map[string]any{"k": v}, map[string]any{"": nil}, v, v}
	return object.Copy(some[rng.IntN(len(some))])
}

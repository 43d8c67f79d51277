package threeway

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/klog/v2"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// FuzzCompare makes old of any JSON, and desired, a second rendering and live of random changes to it. Comparing, asking the server and
// reporting never panic, whichever way Helm writes. What nobody touched is silent, and no finding of a report is incomplete.
func FuzzCompare(f *testing.F) {
	// Kubernetes' libraries log every managedFields that cannot be read.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	f.Cleanup(func() { klog.LogToStderr(true) })
	for i, o := range samples(f) {
		if raw, err := json.Marshal(o.Content); err == nil && len(raw) < 1000 {
			f.Add(raw, uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, old []byte, seed uint64) {
		o, ok := fuzzed(old)
		if !ok {
			t.Skip()
		}
		s, rng := sample{Object: o}, rand.New(rand.NewPCG(seed, 5))
		checkReport(t, Compare(s.input(o, s.installed())), !mangled(o.Content))
		desired := o
		desired.Content, _ = vandalised(rng, object.Copy(o.Content)).(map[string]any)
		live, _ := vandalised(rng, object.Copy(o.Content)).(map[string]any)
		checkReport(t, Compare(s.input(desired, live)), false)
		checkPatched(t, Compare(s.input(o, live)))
		desired.Again, _ = vandalised(rng, object.Copy(o.Content)).(map[string]any)
		c := Compare(s.input(desired, live))
		checkPatched(t, c)
		c = verifiedBy(c, vandalised(rng, object.Copy(live)))
		checkReport(t, c, false)
		in := s.input(desired, live)
		in.Operation, in.OldObjects = report.OperationRollback, nil
		checkReport(t, Compare(in), false)
		in = s.input(o, live)
		in.Operation, in.ForceReplace = report.OperationDrift, seed%5 == 0
		checkOnlyDrift(t, Compare(in))
		in.ApplyMethod, in.Migrates = "server-side", seed%2 == 0
		checkOnlyDrift(t, Compare(in))
		in = s.input(desired, live)
		in.ApplyMethod, in.Migrates, in.ForceConflicts = "server-side", seed%2 == 0, seed%3 == 0
		c = Compare(in)
		c = verifiedBy(c, vandalised(rng, object.Copy(live)))
		checkReport(t, c, false)
	})
}

// vandalised puts random values at random places below a map.
func vandalised(rng *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			if rng.IntN(4) == 0 {
				v[name] = vandal(rng, v[name])
			} else {
				v[name] = vandalised(rng, v[name])
			}
		}
	case []any:
		for i := range v {
			v[i] = vandalised(rng, v[i])
		}
		if len(v) > 0 && rng.IntN(4) == 0 {
			return append(v, vandal(rng, v[0]))
		}
	}
	return v
}

func vandal(rng *rand.Rand, v any) any {
	some := []any{nil, "", "x", "1e999", "1e-999999999", int64(1), int64(1) << 62, 1.5, true, []any{}, []any{v}, []any{nil}, []any{v, v}, map[string]any{}, map[string]any{"k": v}, map[string]any{"": nil}}
	return some[rng.IntN(len(some))]
}

// fuzzed makes an object of any JSON object.
func fuzzed(raw []byte) (object.Object, bool) {
	var content map[string]any
	if utiljson.Unmarshal(raw, &content) != nil || content == nil {
		return object.Object{}, false
	}
	ref := object.RefOf(content)
	ref.Namespace, ref.Name = "d", "x"
	return object.Object{Ref: ref, Content: content}, true
}

// mangled reports whether a manifest has anything that Helm's patch changes: directives, nulls among the items of a list,
// items that share their merge key, numbers that floating point changes.
func mangled(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			if len(name) > 0 && name[0] == '$' || mangled(below) {
				return true
			}
		}
	case []any:
		for _, below := range v {
			if below == nil || mangled(below) {
				return true
			}
		}
	}
	return false
}

// verifiedBy answers every request with the same object.
func verifiedBy(c *Comparison, answer any) *Comparison {
	answers := map[object.Ref]cluster.Answer{}
	for _, r := range c.Requests() {
		object, _ := answer.(map[string]any)
		answers[r.Ref] = cluster.Answer{Object: object}
	}
	return c.Verify(answers)
}

func checkReport(t *testing.T, c *Comparison, silent bool) {
	t.Helper()
	if silent && len(c.Objects[0].Findings) > 0 {
		t.Errorf("untouched, and yet: %s", describe(c))
	}
	raw, err := json.Marshal(c.Report(Mask{}))
	if err != nil {
		t.Fatal(err)
	}
	var report report.Release
	if err := json.Unmarshal(raw, &report); err != nil {
		t.Fatal(err)
	}
	for _, o := range report.Objects {
		for _, f := range o.Fields {
			if f.ID == "" || f.Path == "" || f.Verdict == "" || f.Cause == "" {
				t.Errorf("incomplete finding %+v", f)
			}
			if f.Pointer != "" && f.DesiredPointer != "" {
				t.Errorf("two pointers %+v", f)
			}
		}
	}
	c.Needs()
}

package threeway

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// checkPatched holds the result of a comparison to the patch that Helm's library calls make. Compare leaves the patch out where it
// recognizes that it changes nothing (internal/engine, unchanged.go); Requests never does.
func checkPatched(t *testing.T, c *Comparison) {
	t.Helper()
	for i := range c.Objects {
		o := &c.Objects[i]
		if o.method != MethodPatch || o.Engine == report.EngineApply {
			continue
		}
		target := object.HelmMetadata(o.Content, c.Input.Name, c.Input.Namespace)
		_, body, err := c.job.writer.Patch(o.Ref, o.original, target, o.liveText)
		if err != nil {
			t.Errorf("%s: no patch can be made (%v), and yet there is a result", o.Source, err)
			continue
		}
		how := engine.ClientSide{Engine: o.Engine}
		if typed, err := kinds.Native().HelmScheme.New(o.GVK()); err == nil && o.Engine == report.EngineStrategic {
			how.Typed = typed
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(target, typed); err != nil {
				t.Errorf("%s: Helm merges it, because it does not decode: %v", o.Source, err)
			}
		}
		live, err := json.Marshal(o.liveText)
		if err != nil {
			t.Fatal(err)
		}
		after, err := engine.Guarded(func() ([]byte, error) { return how.Apply(live, body) })
		if err != nil {
			t.Errorf("%s: the patch cannot be applied (%v), and yet there is a result", o.Source, err)
			continue
		}
		f := kinds.NewNormalizer(o.Key, c.job.writer.ShapeOf(o.Ref), o.liveText)
		want := f.Stored(decoded(t, after))
		apiserver.ApplyServerRules(o.Key, f.Stored(o.liveText), want)
		if !object.Equal(want.Value, o.Result) {
			t.Errorf("%s: the result is %v, and Helm's patch %s makes %v", o.Source, o.Result, body, want.Value)
		}
	}
}

// TestPatchIsLeftOutWhereItChangesNothing compares objects that nobody touched, and objects with few edits, with what Helm's patch makes of
// them, and counts how often the patch was left out.
func TestPatchIsLeftOutWhereItChangesNothing(t *testing.T) {
	untouched, same := 0, 0
	for _, o := range samples(t) {
		rng := o.random(7)
		c := Compare(o.input(o.Object, o.installed()))
		checkPatched(t, c)
		if object.IsSameMap(c.Objects[0].Live, c.Objects[0].Result) {
			same++
		}
		untouched++
		for range *rounds / 2 {
			desired, live := o.Object, o.installed()
			desired.Content, _ = object.Copy(o.Content).(map[string]any)
			if rng.IntN(2) == 0 {
				o.edit(rng, desired.Content)
			}
			for range rng.IntN(3) {
				o.edit(rng, live)
			}
			switch rng.IntN(6) {
			case 0:
				live, _ = doubled(rng, live).(map[string]any)
			case 1:
				live, _ = vandalised(rng, live).(map[string]any)
			case 2:
				desired.Content, _ = vandalised(rng, desired.Content).(map[string]any)
				live, _ = object.Copy(desired.Content).(map[string]any)
			}
			checkPatched(t, Compare(o.input(desired, live)))
			checkPatched(t, Compare(sample{desired, o.schemas}.input(desired, live)))
		}
	}
	if same*2 < untouched {
		t.Errorf("the patch of only %d of %d untouched objects was left out", same, untouched)
	}
}

package threeway

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// checkPatched compares the result of a comparison with the patch that Helm's library calls make. Compare skips the patch if it
// recognizes that the patch changes nothing (internal/engine, unchanged.go); Requests never does.
func checkPatched(t *testing.T, c *Comparison) {
	t.Helper()
	for i := range c.Objects {
		o := &c.Objects[i]
		if o.method != cluster.MethodPatch || o.Engine == report.EngineApply {
			continue
		}
		target := object.HelmMetadata(o.Content, c.Input.Name, c.Input.Namespace)
		_, body, err := c.job.writer.Patch(o.Ref, o.original, target, o.liveText)
		if err != nil {
			t.Errorf("%s: no patch can be made (%v), and yet there is a result", o.Source, err)
			continue
		}
		if typed, err := kinds.Native().HelmScheme.New(o.GVK()); err == nil && o.Engine == report.EngineStrategic {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(target, typed); err != nil {
				t.Errorf("%s: Helm merges it, because it does not decode: %v", o.Source, err)
			}
		}
		live, err := json.Marshal(o.liveText)
		if err != nil {
			t.Fatal(err)
		}
		after, err := engine.Guarded(func() ([]byte, error) { return patched(o, live, body) })
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

// TestPatchIsLeftOutWhereItChangesNothing compares untouched objects, and objects with few edits, with the result of Helm's patch, and
// counts how often the patch was skipped.
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

// TestApplyIsLeftOutWhereItChangesNothing lets the API server's own field manager make every apply that was skipped (internal/engine,
// unchanged_apply.go): the apply leaves live as it is and conflicts with nobody. Helm applied the objects, and then they were edited in
// many ways: by others, without a trace in managedFields, in the manifest, and in managedFields themselves.
func TestApplyIsLeftOutWhereItChangesNothing(t *testing.T) {
	untouched, same := 0, 0
	for _, o := range samples(t) {
		types, isNative := managedfields.NewDeducedTypeConverter(), kinds.NativeApply().Scheme.Recognizes(o.GVK())
		if isNative {
			types = kinds.NativeApply().Types
		}
		server := newFieldServer(t, types, o.Ref)
		installed, ok := server.applied(o)
		if !ok || mangled(o.Content) {
			continue
		}
		object.Child(installed, "metadata")["namespace"] = object.Child(object.HelmMetadata(o.Content, "r", "d"), "metadata")["namespace"]
		untouched++
		if checkApplied(t, server, o.Object, o.schemas, installed) {
			same++
		}
		rng := o.random(9)
		for range (*rounds + 3) / 4 {
			desired, live := o.Object, object.Copy(installed).(map[string]any)
			desired.Content, _ = object.Copy(o.Content).(map[string]any)
			if rng.IntN(3) == 0 {
				o.edit(rng, desired.Content)
			}
			for range rng.IntN(2) {
				live = editedBySomebody(rng, server, o, live)
			}
			for range rng.IntN(2) {
				forgeOwners(rng, live)
			}
			checkApplied(t, server, desired, o.schemas, live)
		}
	}
	if untouched < 100 || same*2 < untouched {
		t.Errorf("the apply of only %d of %d untouched objects was left out", same, untouched)
	}
}

// checkApplied compares an object server-side, and reports whether the apply was skipped. A skipped apply must change nothing.
func checkApplied(t *testing.T, server fieldServer, desired object.Object, schemas map[schema.GroupKind]*kinds.CustomSchema, live map[string]any) bool {
	t.Helper()
	in := sample{desired, schemas}.input(desired, live)
	in.ApplyMethod = "server-side"
	c := Compare(in)
	o := &c.Objects[0]
	if o.unpatched != nil || o.Result == nil || !object.IsSameMap(o.Live, o.Result) {
		return false
	}
	target := &unstructured.Unstructured{Object: object.HelmMetadata(object.Copy(desired.Content).(map[string]any), in.Name, in.Namespace)}
	before := &unstructured.Unstructured{Object: object.Copy(live).(map[string]any)}
	after, err := server.manager.Apply(before, target, c.Deployer().Manager, false)
	if err != nil {
		t.Errorf("%s: the apply was left out, and it fails: %v", desired.Source, err)
		return true
	}
	got := after.(*unstructured.Unstructured)
	got.SetManagedFields(nil)
	want := &unstructured.Unstructured{Object: object.Copy(live).(map[string]any)}
	want.SetManagedFields(nil)
	if !object.Equal(got.Object, want.Object) {
		t.Errorf("%s: the apply was left out, and it makes\n%v\nof\n%v", desired.Source, got.Object, want.Object)
	}
	return true
}

// editedBySomebody edits an object as another manager, by an update or an apply, or without a trace in managedFields.
func editedBySomebody(rng *rand.Rand, server fieldServer, o sample, live map[string]any) map[string]any {
	edited, _ := object.Copy(live).(map[string]any)
	o.edit(rng, edited)
	switch rng.IntN(3) {
	case 0:
		if out, ok := server.write(live, edited, "kubectl-edit"); ok {
			return out
		}
	case 1:
		target, _ := object.Copy(edited).(map[string]any)
		delete(target, "status")
		meta := object.Child(target, "metadata")
		delete(meta, "managedFields")
		for name := range meta {
			if rng.IntN(2) == 0 && name != "name" {
				delete(meta, name)
			}
		}
		before, _ := object.Copy(live).(map[string]any)
		out, err := server.manager.Apply(&unstructured.Unstructured{Object: before}, &unstructured.Unstructured{Object: target}, "other", true)
		if err == nil {
			return out.(*unstructured.Unstructured).Object
		}
	}
	return edited
}

// forgeOwners changes managedFields as no API server does: it removes or adds a field somewhere, or changes the writer, the time or the
// version of an entry.
func forgeOwners(rng *rand.Rand, live map[string]any) {
	entries := owners.RawEntries(live)
	if len(entries) == 0 {
		return
	}
	entry := entries[rng.IntN(len(entries))]
	switch rng.IntN(8) {
	case 0:
		entry["apiVersion"] = []any{"v1", "apps/v1", "", "nonsense/v9/x"}[rng.IntN(4)]
	case 1:
		entry["operation"] = []any{"Update", "Apply", ""}[rng.IntN(3)]
	case 2:
		entry["manager"] = []any{"helm", "other", nil}[rng.IntN(3)]
	case 3:
		entry["time"] = nil
	case 4:
		entry["subresource"] = []any{"status", "", nil}[rng.IntN(3)]
	default:
		fields, _ := entry["fieldsV1"].(map[string]any)
		for len(fields) > 0 {
			name := object.SortedKeys(fields)[rng.IntN(len(fields))]
			below, _ := fields[name].(map[string]any)
			switch {
			case len(below) > 0 && rng.IntN(3) > 0:
				fields = below
				continue
			case rng.IntN(2) == 0:
				delete(fields, name)
			default:
				fields[[]string{"f:added", ".", "k:{\"name\":\"x\"}", "v:1", "i:0", "x:"}[rng.IntN(6)]] = map[string]any{}
			}
			return
		}
	}
}

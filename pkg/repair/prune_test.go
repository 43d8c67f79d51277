package repair

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

const prunedManifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: "nginx:1"}]}
`

// withAdditions returns a site where a person added a label, a history limit and a container, and the plan that prunes them.
func withAdditions(t *testing.T, serverSide bool) (*site, *ObjectPlan, *Plan) {
	t.Helper()
	w := newSite(t, prunedManifest, "", serverSide)
	w.install(w.old[0])
	w.edit("kubectl-edit", func(object map[string]any) {
		fieldsOfMap(object, "metadata", "labels")["mine"] = "x"
		fieldsOfMap(object, "spec")["revisionHistoryLimit"] = int64(3)
		pod := fieldsOfMap(object, "spec", "template", "spec")
		containers, _ := pod["containers"].([]any)
		pod["containers"] = append([]any{map[string]any{"name": "debug", "image": "busybox"}}, containers...)
	})
	p := w.plan(Options{Prune: true})
	if len(p.Objects) != 1 || len(p.Declined) > 0 || countPrunes(p.Objects[0].Changes) != 3 {
		t.Fatalf("planned %s", describe(t, p))
	}
	return w, &p.Objects[0], p
}

// edit writes the object as a field manager.
func (w *site) edit(manager string, change func(object map[string]any)) {
	w.t.Helper()
	o := w.old[0]
	object, _ := object.Copy(w.live[o.Ref]).(map[string]any)
	change(object)
	if !w.update(o, object, manager) {
		w.t.Fatal("the field manager cannot follow")
	}
}

func fieldsOfMap(object map[string]any, names ...string) map[string]any {
	for _, name := range names {
		object, _ = object[name].(map[string]any)
	}
	return object
}

// TestPruneBesideOtherWriters checks that a field that is as the plan saw it is removed, that one that is gone counts as done, and that
// one that somebody has changed or taken over since is declined, by name.
func TestPruneBesideOtherWriters(t *testing.T) {
	const label, limit = "metadata.labels.mine", "spec.revisionHistoryLimit"
	for name, c := range map[string]struct {
		meanwhile func(w *site)
		// moved are the fields that the error names. If it is empty, there is a patch, and removed is what it still removes.
		moved, removed string
	}{
		"nothing": {func(*site) {}, "", "/metadata/labels/mine /spec/revisionHistoryLimit"},
		"other fields": {func(w *site) {
			w.edit("some-operator", func(o map[string]any) { fieldsOfMap(o, "metadata", "labels")["theirs"] = "y" })
		}, "", "/metadata/labels/mine /spec/revisionHistoryLimit"},
		"it is gone": {func(w *site) {
			w.edit("kubectl-edit", func(o map[string]any) { delete(fieldsOfMap(o, "metadata", "labels"), "mine") })
		}, "", "/spec/revisionHistoryLimit"},
		"the default is back": {func(w *site) {
			w.edit("kubectl-edit", func(o map[string]any) { delete(fieldsOfMap(o, "spec"), "revisionHistoryLimit") })
		}, "", "/metadata/labels/mine"},
		"another value": {func(w *site) {
			w.edit("kubectl-edit", func(o map[string]any) { fieldsOfMap(o, "spec")["revisionHistoryLimit"] = int64(4) })
		}, limit, ""},
		"another value, of a controller": {func(w *site) {
			w.edit("some-operator", func(o map[string]any) { fieldsOfMap(o, "metadata", "labels")["mine"] = "y" })
		}, label, ""},
		"a controller applies the same value": {func(w *site) { w.apply("some-operator", label) }, label, ""},
		"its writers are erased": {func(w *site) {
			delete(fieldsOfMap(w.live[w.old[0].Ref], "metadata"), "managedFields")
		}, label + ", " + limit, ""},
		"it is ignored now": {func(w *site) {
			w.edit("kubectl-edit", func(o map[string]any) {
				fieldsOfMap(o, "metadata", "annotations")["helmdrift.io/ignore"] = "/metadata/labels/mine"
			})
		}, label, ""},
		"others wrote into the container": {func(w *site) {
			w.edit("some-operator", func(o map[string]any) {
				containers, _ := fieldsOfMap(o, "spec", "template", "spec")["containers"].([]any)
				containers[0].(map[string]any)["tty"] = true
			})
		}, "spec.template.spec.containers[name=debug]", ""},
	} {
		for _, serverSide := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				w, o, _ := withAdditions(t, serverSide)
				c.meanwhile(w)
				body, err := o.Patch(w.live[o.Ref])
				var moved *StaleError
				switch {
				case c.moved == "" && err != nil:
					t.Error(err)
				case c.moved == "" && removed(t, body) != c.removed:
					t.Errorf("removed is %s, not %s", removed(t, body), c.removed)
				case c.moved != "" && (!asMoved(err, &moved) || body != nil):
					t.Errorf("%s %v", body, err)
				case c.moved != "" && !strings.HasPrefix(moved.Reason, c.moved+" changed") && !strings.HasPrefix(moved.Reason, c.moved+", "):
					t.Errorf("%v", moved)
				}
			})
		}
	}
}

// apply applies a label with its present value, as a field manager.
func (w *site) apply(manager, label string) {
	w.t.Helper()
	o := w.old[0]
	name := label[strings.LastIndex(label, ".")+1:]
	value := fieldsOfMap(w.live[o.Ref], "metadata", "labels")[name]
	config := map[string]any{"apiVersion": o.APIVersion(), "kind": o.Kind, "metadata": map[string]any{"name": o.Name, "labels": map[string]any{name: value}}}
	out, ok := w.sign(o, func(m *managedfields.FieldManager) (runtime.Object, error) {
		live, _ := object.Copy(w.live[o.Ref]).(map[string]any)
		return m.Apply(&unstructured.Unstructured{Object: live}, &unstructured.Unstructured{Object: config}, manager, false)
	})
	if !ok {
		w.t.Fatal("the field manager cannot follow")
	}
	w.live[o.Ref] = out
}

// removed lists the removals of a patch.
func removed(t *testing.T, body []byte) string {
	t.Helper()
	var ops []operation
	if err := json.Unmarshal(body, &ops); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, op := range ops {
		if op.Op == "remove" {
			out = append(out, op.Path)
		}
	}
	return strings.Join(out, " ")
}

// TestPruneHandsNothingOver checks that nobody owns what was pruned, and that helm's entry is as it was, even if the API sets a default
// instead.
func TestPruneHandsNothingOver(t *testing.T) {
	w, o, _ := withAdditions(t, true)
	before := w.deployersFields(w.live[o.Ref])
	body, err := o.Patch(w.live[o.Ref])
	if err != nil {
		t.Fatal(err)
	}
	w.send(w.old[0], body, o.Manager)
	if fieldsOfMap(w.live[o.Ref], "spec")["revisionHistoryLimit"] != int64(10) {
		t.Fatal("the default is not back, so this test is about nothing")
	}
	w.checkHandedOver(o, true, before)
	for _, name := range theirs(w.live[o.Ref]) {
		if name != "helm" && name != "kubectl-edit" {
			t.Errorf("%s owns something", name)
		}
	}
	if again := w.plan(Options{Prune: true}); !again.Empty() {
		t.Errorf("planned again: %s", describe(t, again))
	}
}

// TestPruneLeavesTheMapThatHelmHolds checks a map that helm owns: the API server never omits the resources of a container, so helm owns
// the empty map. What a person put into it is removed, and the map stays.
func TestPruneLeavesTheMapThatHelmHolds(t *testing.T) {
	w := newSite(t, prunedManifest, "", false)
	w.install(w.old[0])
	w.edit("kubectl-edit", func(object map[string]any) {
		containers, _ := fieldsOfMap(object, "spec", "template", "spec")["containers"].([]any)
		containers[0].(map[string]any)["resources"] = map[string]any{"limits": map[string]any{"cpu": "1"}}
	})
	live := w.live[w.old[0].Ref]
	entries, _ := fieldsOfMap(live, "metadata")["managedFields"].([]any)
	helms, _ := entries[0].(map[string]any)
	if helms["manager"] != "helm" {
		t.Fatalf("the first entry is %v", helms)
	}
	container := fieldsOfMap(helms, "fieldsV1", "f:spec", "f:template", "f:spec", "f:containers", `k:{"name":"app"}`)
	container["f:resources"] = map[string]any{}
	p := w.plan(Options{Prune: true})
	if len(p.Objects) != 1 || len(p.Declined) > 0 {
		t.Fatalf("planned %s", describe(t, p))
	}
	o := &p.Objects[0]
	body, err := o.Patch(live)
	if err != nil || removed(t, body) != "/spec/template/spec/containers/0/resources/limits" {
		t.Errorf("the patch is %s (%v)", body, err)
	}
	w.checkPatch(o)
	container["f:resources"] = map[string]any{"f:requests": map[string]any{}}
	if left := w.plan(Options{Prune: true}); !left.Empty() || len(left.Declined) != 1 {
		t.Errorf("of what helm wrote into is planned %s", describe(t, left))
	}
}

// TestPruneIsConfirmed checks that a pruned field that exists again does not count as fixed, whoever wrote it.
func TestPruneIsConfirmed(t *testing.T) {
	for _, manager := range []string{"kubectl-edit", "some-operator"} {
		w, o, p := withAdditions(t, false)
		body, err := o.Patch(w.live[o.Ref])
		if err != nil {
			t.Fatal(err)
		}
		w.send(w.old[0], body, o.Manager)
		done := []report.FixOutcome{{Object: report.ObjectKey{Key: o.Ref.Key}, Status: report.FixFixed}}
		if got := p.Confirmed(done, w.compare()); got[0].Status != report.FixFixed {
			t.Errorf("%s: %+v", manager, got)
		}
		w.edit(manager, func(o map[string]any) { fieldsOfMap(o, "metadata", "labels")["mine"] = "x" })
		got := p.Confirmed(done, w.compare())
		isLabel := func(c Change) bool { return c.Path.String() == "metadata.labels.mine" }
		label := o.Changes[slices.IndexFunc(o.Changes, isLabel)].ID
		if got[0].Status != report.FixDeclined || !slices.Equal(got[0].Fields, []string{label}) {
			t.Errorf("%s: %+v, want declined for %s", manager, got, label)
		}
	}
}

// TestPruneIsListedSeparately checks that pruned fields are not listed among those put back, keep the report's ids, and are masked
// as in the report. Additions that the plan leaves are not drift.
func TestPruneIsListedSeparately(t *testing.T) {
	const canary = "aHVudGVyMi1jYW5hcnk="
	w := newSite(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: YQ==}\n", "", false)
	w.install(w.old[0])
	w.edit("kubectl-edit", func(o map[string]any) {
		fieldsOfMap(o, "data")["added"], fieldsOfMap(o, "data")["a"] = canary, "eA=="
		fieldsOfMap(o, "metadata", "labels")["mine"] = "x"
	})
	p := w.plan(Options{Prune: true})
	r := p.Result(threeway.Mask{}, nil)
	shown, err := json.Marshal(r)
	if err != nil || strings.Contains(string(shown), canary) {
		t.Errorf("shown is %s (%v)", shown, err)
	}
	if patch := patchText(t, &p.Objects[0]); !strings.Contains(patch, canary) {
		t.Errorf("the patch does not test the value: %s", patch)
	}
	if plan := r.Plan[0]; len(plan.Fields) != 1 || len(plan.Prune) != 2 || !plan.Prune[0].Masked || plan.Prune[0].Managed || plan.HandOver {
		t.Errorf("the plan is %s", shown)
	}
	known := map[string]bool{}
	for _, f := range p.comparison.Report(threeway.Mask{}).Objects[0].Fields {
		known[f.ID] = f.Managed
	}
	for _, f := range r.Plan[0].Prune {
		if managed, there := known[f.ID]; !there || managed {
			t.Errorf("%s has an id that the report has not", f.Path)
		}
	}
}

// TestUnprunedFieldsAreNoDrift checks that a fix is complete although its plan left unmanaged fields, but not if drift or planned fields
// remain.
func TestUnprunedFieldsAreNoDrift(t *testing.T) {
	w, _, p := withAdditions(t, false)
	id := p.Objects[0].Changes[0].ID
	r := p.Result(threeway.Mask{}, nil)
	r.After = &report.Report{Releases: []report.Release{w.compare().Report(threeway.Mask{})}}
	outcome := report.FixOutcome{Object: r.Plan[0].Object, Status: report.FixDeclined, Fields: []string{id}}
	if r.IsNoDrift(outcome) {
		t.Error("what was planned does not count")
	}
	r.Plan = nil
	if !r.IsNoDrift(outcome) {
		t.Error("what was left counts")
	}
	for _, other := range []report.FixOutcome{
		{Object: outcome.Object, Status: report.FixRefused, Fields: outcome.Fields},
		{Object: outcome.Object, Status: report.FixDeclined},
		{Object: outcome.Object, Status: report.FixDeclined, Fields: []string{id, "unknown"}},
	} {
		if r.IsNoDrift(other) {
			t.Errorf("%+v does not count", other)
		}
	}
}

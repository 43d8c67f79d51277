package threeway

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestApplyProperties lets the API server's own field manager store what Helm applies. A second apply changes nothing. After
// somebody's edit, an upgrade fails exactly where the verdict is conflict, and the verdict on what the editor owns is never
// overwrite (except for stringData, which is not what was edited). A forced apply conflicts with nobody.
func TestApplyProperties(t *testing.T) {
	tried := 0
	for _, o := range samples(t) {
		if !kinds.NativeApply().Scheme.Recognizes(o.GVK()) || mangled(o.Content) {
			continue
		}
		server := newFieldServer(t, kinds.NativeApply().Types, o.Ref)
		installed, ok := server.applied(o)
		if !ok {
			continue // the server refuses to apply such an object, for example because of duplicate keys
		}
		tried++
		in := o.input(o.Object, installed)
		in.ApplyMethod = "server-side"
		if c := Compare(in); !c.Quiet() {
			t.Errorf("%s: untouched, and yet %s", o.Source, describe(c))
		}
		rng := o.random(8)
		edited, _ := object.Copy(installed).(map[string]any)
		if len(o.edit(rng, edited)) == 0 {
			continue
		}
		live, ok := server.write(installed, o.served(edited), "kubectl-edit")
		if !ok {
			continue
		}
		in.Live = map[object.Ref]cluster.Live{o.Ref: {Object: live}}
		checkApply(t, o, in)
	}
	if tried < 100 {
		t.Errorf("only %d objects were tried", tried)
	}
}

func checkApply(t *testing.T, o sample, in Input) {
	t.Helper()
	c := Compare(in)
	for _, f := range c.Objects[0].Findings {
		theirs := slices.ContainsFunc(f.Owners, func(owner report.Owner) bool { return owner.Manager == "kubectl-edit" })
		if o.Kind != "Secret" && f.Verdict == report.Overwrite && f.Class == "" && f.Managed && theirs && len(f.Owners) == 1 && f.Certain {
			t.Errorf("%s: an apply overwrites what kubectl-edit owns\n%s", o.Source, describe(c))
		}
		if f.Verdict == report.Conflict && c.Objects[0].Action != report.ActionFail {
			t.Errorf("%s: a conflict, and no failure\n%s", o.Source, describe(c))
		}
	}
	in.ForceConflicts = true
	if forced := Compare(in); slices.ContainsFunc(forced.Objects[0].Findings, func(f verdict.Finding) bool { return f.Verdict == report.Conflict }) {
		t.Errorf("%s: a conflict although it is forced\n%s", o.Source, describe(forced))
	}
}

// applied returns an object as it is stored after Helm applied it, and false if the field manager refuses it.
func (s fieldServer) applied(o sample) (map[string]any, bool) {
	target := &unstructured.Unstructured{Object: object.HelmMetadata(o.Content, "r", "d")}
	live := &unstructured.Unstructured{Object: map[string]any{"apiVersion": o.APIVersion(), "kind": o.Kind, "metadata": map[string]any{"name": o.Name}}}
	out, err := s.manager.Apply(live, target, "helm", false)
	if err != nil {
		return nil, false
	}
	u, ok := out.(*unstructured.Unstructured)
	if !ok {
		return nil, false
	}
	managed := u.GetManagedFields()
	stored := &unstructured.Unstructured{Object: o.served(u.Object)}
	stored.SetManagedFields(managed)
	return stored.Object, true
}

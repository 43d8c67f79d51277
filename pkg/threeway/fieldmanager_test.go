package threeway

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestOwnersOfRealFieldManager lets the API server's own field manager write managedFields: Helm installs, somebody edits, and
// somebody else puts the edit back. The edit is reported with its owner, and what was put back is silent.
func TestOwnersOfRealFieldManager(t *testing.T) {
	types := applyconfigurations.NewTypeConverter(clientscheme.Scheme)
	for _, o := range samples(t) {
		if !clientscheme.Scheme.Recognizes(o.GVK()) || mangled(o.Content) {
			continue
		}
		rng := o.random(6)
		for range *rounds {
			server := newFieldServer(t, types, o.Ref)
			installed, ok := server.write(map[string]any{}, o.installed(), "helm")
			edited, _ := object.Copy(installed).(map[string]any)
			edit := o.edit(rng, edited)
			if !ok || len(edit) == 0 {
				continue
			}
			live, ok := server.write(installed, o.served(edited), "kubectl-edit")
			if !ok {
				continue
			}
			checkOwned(t, o, live, edit)
			back, _ := server.write(live, installed, "k9s")
			if c := Compare(o.input(o.Object, back)); !c.Quiet() {
				t.Errorf("%s: put back after an edit of %s, and yet %s", o.Source, edit, describe(c))
			}
		}
	}
}

// checkOwned wants a finding for the edit. If the edit only added something, the finding must name the editor.
func checkOwned(t *testing.T, o sample, live map[string]any, edit []object.Path) {
	t.Helper()
	c := Compare(o.input(o.Object, live))
	found := touching(c.Objects[0].Findings, edit)
	if found < 0 {
		t.Errorf("%s: the edit of %s is lost\n%s", o.Source, edit, describe(c))
		return
	}
	f := c.Objects[0].Findings[found]
	byEditor := slices.ContainsFunc(f.Owners, func(owner report.Owner) bool { return owner.Manager == "kubectl-edit" })
	if !f.Managed && f.Old == nil && !byEditor {
		t.Errorf("%s: %s is owned by %v", o.Source, f.Path, f.Owners)
	}
}

// fieldServer is what an API server does with managedFields on a write.
type fieldServer struct{ manager *managedfields.FieldManager }

func newFieldServer(t testing.TB, types managedfields.TypeConverter, ref object.Ref) fieldServer {
	t.Helper()
	gvk := ref.GVK()
	m, err := managedfields.NewDefaultFieldManager(types, asIs{}, asIs{}, asIs{}, gvk, gvk.GroupVersion(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return fieldServer{m}
}

// write returns the object as it is stored, and false if it does not fit its type, because then no managedFields are written.
func (s fieldServer) write(live, obj map[string]any, manager string) (map[string]any, bool) {
	before, _ := object.Copy(live).(map[string]any)
	after, _ := object.Copy(obj).(map[string]any)
	for _, m := range []map[string]any{before, after} {
		m["apiVersion"], m["kind"] = obj["apiVersion"], obj["kind"]
	}
	out, err := s.manager.Update(&unstructured.Unstructured{Object: before}, &unstructured.Unstructured{Object: after}, manager)
	if err != nil {
		return obj, false
	}
	u, ok := out.(*unstructured.Unstructured)
	return u.Object, ok && len(u.GetManagedFields()) > 0
}

// asIs converts, defaults and creates nothing: one version is enough.
type asIs struct{}

func (asIs) Convert(_, _, _ any) error { return nil }
func (asIs) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}
func (asIs) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
func (asIs) Default(runtime.Object) {}
func (asIs) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

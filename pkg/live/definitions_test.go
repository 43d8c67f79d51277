package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/report"
)

func withDefinitions(f *fakeAPI) {
	f.kinds = append(f.kinds,
		fakeKind{group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition", plural: "customresourcedefinitions", cluster: true},
		fakeKind{group: "ex.com", version: "v1", kind: "Other", plural: "others"},
		fakeKind{group: "agg.io", version: "v1", kind: "Aggregated", plural: "aggregateds"})
	f.add("CustomResourceDefinition", "", "things.ex.com", nil)
	f.add("CustomResourceDefinition", "", "others.ex.com", nil)
}

func TestCRDs(t *testing.T) {
	f := newFakeAPI(t)
	withDefinitions(f)
	f.intercept = failing(-1, "/others.ex.com", forbid)
	thing, other := schema.GroupKind{Group: "ex.com", Kind: "Thing"}, schema.GroupKind{Group: "ex.com", Kind: "Other"}
	kinds := []schema.GroupKind{thing, other, thing, {Group: "agg.io", Kind: "Aggregated"}, {Group: "no.such", Kind: "Kind"}}
	found, warnings := f.connect(Options{}).CRDs(t.Context(), kinds)
	if len(found) != 1 || found[thing]["kind"] != "CustomResourceDefinition" {
		t.Errorf("found %v", found)
	}
	want := []report.Message{{Code: cluster.CodeForbidden, Object: "Other.ex.com", Message: `cannot get customresourcedefinitions.apiextensions.k8s.io "others.ex.com": forbidden: User "ci" cannot do this; its objects are compared without a schema`}}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Error(diff)
	}
	if len(f.seen()) != 3 {
		t.Errorf("requests %v", f.seen())
	}
}

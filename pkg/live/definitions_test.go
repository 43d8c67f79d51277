package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/livetest"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/report"
)

func withDefinitions(f *livetest.Server) {
	f.Kinds = append(f.Kinds,
		livetest.Kind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Plural: "customresourcedefinitions", Cluster: true},
		livetest.Kind{Group: "ex.com", Version: "v1", Kind: "Other", Plural: "others"},
		livetest.Kind{Group: "agg.io", Version: "v1", Kind: "Aggregated", Plural: "aggregateds"})
	f.Add("CustomResourceDefinition", "", "things.ex.com", nil)
	f.Add("CustomResourceDefinition", "", "others.ex.com", nil)
}

func TestCRDs(t *testing.T) {
	f := livetest.New(t)
	withDefinitions(f)
	f.Intercept = livetest.Failing(-1, "/others.ex.com", livetest.Forbid)
	thing, other := schema.GroupKind{Group: "ex.com", Kind: "Thing"}, schema.GroupKind{Group: "ex.com", Kind: "Other"}
	kinds := []schema.GroupKind{thing, other, thing, {Group: "agg.io", Kind: "Aggregated"}, {Group: "no.such", Kind: "Kind"}}
	found, warnings := connect(f, Options{}).CRDs(t.Context(), kinds)
	if len(found) != 1 || found[thing]["kind"] != "CustomResourceDefinition" {
		t.Errorf("found %v", found)
	}
	want := []report.Message{{Code: cluster.CodeForbidden, Object: "Other.ex.com", Message: `cannot get customresourcedefinitions.apiextensions.k8s.io "others.ex.com": forbidden: User "ci" cannot do this; its objects are compared without a schema`}}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Error(diff)
	}
	if len(f.Seen()) != 3 {
		t.Errorf("requests %v", f.Seen())
	}
}

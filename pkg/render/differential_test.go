package render

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// asHelm reads a manifest with the builder that Helm's Client.Build makes, without a server: kinds are not mapped, so
// namespaces stay as they are written.
func asHelm(manifest string) ([]map[string]any, error) {
	infos, err := resource.NewLocalBuilder().
		ContinueOnError().
		NamespaceParam("prod").
		DefaultNamespace().
		Flatten().
		Unstructured().
		Stream(strings.NewReader(manifest), "").
		Do().Infos()
	var objects []map[string]any
	for _, info := range infos {
		if u, ok := info.Object.(*unstructured.Unstructured); ok {
			objects = append(objects, u.Object)
		}
	}
	return objects, err
}

// decodeAll is the part of Parse that Helm's local builder covers.
func decodeAll(manifest string) []map[string]any {
	var objects []map[string]any
	for _, doc := range splitDocuments(manifest) {
		contents, _ := doc.decode()
		for _, u := range contents {
			if u.GetNamespace() == "" {
				u.SetNamespace("") // without a server every such object counts as cluster-scoped
			}
			objects = append(objects, u.Object)
		}
	}
	return objects
}

// FuzzManifest states three properties: Parse never panics; where Helm's builder fails it complains; and where the
// builder does not fail, Parse has no Errors and both read the same objects. (A Problem may be one that Helm meets later,
// with a server.)
func FuzzManifest(f *testing.F) {
	for _, archive := range manifestCases(f) {
		f.Add(string(section(f, archive, "manifest").Data))
	}
	for _, seed := range []string{
		`{"kind":"A"} {"kind":"B"}`, "{\"kind\":\"A\"}\n---\nkind: B", "{kind: A}\n---\nkind: B", "{} \n {} x",
		"\ufeff---\nkind: A", "kind: A\r\n---\r\nkind: B", "---\n--- #\n---x\nkind: A", "kind: AList\nitems: null",
		"kind: L\nitems: [{kind: M, items: []}]", "a: &a [*a]", "kind: A\n---\n\ufeffkind: B", "<<: {kind: A}", "kind: A\nitems: {}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, manifest string) {
		m := Parse(manifest, ParseOptions{Namespace: "prod", Scope: scope})
		want, err := asHelm(manifest)
		if err != nil {
			if len(m.Errors) == 0 && !hasProblem(m) {
				t.Fatalf("helm fails, Parse does not: %v", err)
			}
			return
		}
		if len(m.Errors) > 0 {
			t.Fatalf("helm reads it, Parse does not: %v", m.Errors)
		}
		if diff := cmp.Diff(want, decodeAll(manifest)); diff != "" {
			t.Errorf("objects (-helm +got):\n%s", diff)
		}
	})
}

func hasProblem(m Manifest) bool {
	return slices.ContainsFunc(m.Objects, func(o threeway.Object) bool { return o.Problem != "" })
}

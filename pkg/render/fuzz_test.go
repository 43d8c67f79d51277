package render

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// FuzzManifest checks that Parse never panics, that every object has a kind, and a name or a Problem, that no message
// quotes a value, that Parse reports something if Helm's builder fails, and that otherwise Parse has no Errors and
// reads the same objects as the builder. (A Problem may be one that Helm meets later, with a server.)
func FuzzManifest(f *testing.F) {
	for _, archive := range manifestCases(f) {
		f.Add(string(section(f, archive, "manifest").Data))
	}
	for _, items := range []string{`"items"`, `"\u0069tems"`, `"item\u0073"`, `"\u0069\u0074\u0065\u006D\u0073"`, `"Items"`} {
		f.Add(`{"apiVersion":"v1","kind":"List",` + items + `:[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}]}`)
	}
	f.Add("apiVersion: a/b/c\nkind: Secret\n")
	for _, value := range []string{"1.0", "1.5", "1e3", "-0.0", "0x1F", "0o17", "017", "9223372036854775808", "-9223372036854775808", ".inf", "2001-01-01",
		"!!binary aGk=", "!!str 1", "yes", "~", `"\xff"`, "{1: a}", "{true: a}", "{~: a}", "{a: 1, a: 2}", "[1, {b: 2.50}]", "{<<: {a: 1}, b: 2}"} {
		f.Add("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {value: " + value + "}\n")
	}
	f.Fuzz(func(t *testing.T, manifest string) {
		m := Parse(manifest, ParseOptions{Namespace: "prod", Scope: scope})
		for _, o := range m.Objects {
			if o.Kind == "" || o.Name == "" && o.GenerateName == "" && o.Problem == "" {
				t.Errorf("an object without kind or name, and no Problem: %+v", o)
			}
		}
		checkQuotes(t, m)
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
		// cmp takes minutes for documents with expanded aliases.
		for name, read := range map[string]func(string) []Document{"read": ReadDocuments, "decoded": DecodeDocuments} {
			if got := decodeAll(read(manifest)); !reflect.DeepEqual(want, got) && !ambiguous(manifest, want) {
				t.Errorf("%s objects (-helm +got):\n%s", name, cmp.Diff(want, got))
			}
		}
	})
}

// ambiguous reports whether Helm reads different objects each time: if a map has the keys 1 and "1", which are equal
// in JSON, either may win.
func ambiguous(manifest string, first []map[string]any) bool {
	for range 32 {
		if again, _ := asHelm(manifest); !reflect.DeepEqual(first, again) {
			return true
		}
	}
	return false
}

func hasProblem(m Manifest) bool {
	return slices.ContainsFunc(m.Objects, func(o object.Object) bool { return o.Problem != "" })
}

// checkQuotes checks that no message quotes a value. In the seeds, every value that could be a secret contains
// "canary". A message does name the object and the template, which are texts of the manifest too.
func checkQuotes(t *testing.T, m Manifest) {
	t.Helper()
	for _, complaint := range slices.Concat(m.Errors, m.Warnings) {
		rest := strings.NewReplacer(complaint.Object, "", complaint.File, "").Replace(complaint.Message)
		if strings.Contains(rest, "canary") {
			t.Errorf("a message quotes the manifest: %s", complaint.Message)
		}
	}
	for _, o := range m.Objects {
		if strings.Contains(o.Problem, "canary") {
			t.Errorf("a problem quotes the manifest: %s", o.Problem)
		}
	}
}

// asHelm reads a manifest with the builder of Helm's Client.Build, without a server: kinds are not mapped, so
// namespaces stay as written.
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

// decodeAll runs the part of Parse that Helm's local builder covers.
func decodeAll(documents []Document) []map[string]any {
	var objects []map[string]any
	for _, doc := range documents {
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

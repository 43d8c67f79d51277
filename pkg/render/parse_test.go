package render

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

var update = flag.Bool("update", false, "rewrite the wanted sections under testdata")

// scope is the cluster of these tests: it serves everything but unserved.example.com.
func scope(gvk schema.GroupVersionKind) (namespaced, known bool) {
	switch gvk.Kind {
	case "Namespace", "ClusterRole", "CustomResourceDefinition", "Cell":
		return false, true
	}
	return true, gvk.Group != "unserved.example.com"
}

// TestParse runs the cases of testdata/manifests: the section "manifest" of each file is the manifest of a release in
// namespace "prod", and the section "want" is the result. The flag -update rewrites "want".
func TestParse(t *testing.T) {
	for file, archive := range manifestCases(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			want := section(t, archive, "want")
			got := describe(t, Parse(string(section(t, archive, "manifest").Data), ParseOptions{Namespace: "prod", Scope: scope}))
			if *update {
				want.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// manifestCases reads the files of testdata/manifests.
func manifestCases(t testing.TB) map[string]*txtar.Archive {
	t.Helper()
	files, err := filepath.Glob("testdata/manifests/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	cases := map[string]*txtar.Archive{}
	for _, file := range files {
		if cases[file], err = txtar.ParseFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return cases
}

func section(t testing.TB, archive *txtar.Archive, name string) *txtar.File {
	t.Helper()
	for i := range archive.Files {
		if archive.Files[i].Name == name {
			return &archive.Files[i]
		}
	}
	t.Fatalf("no section %q", name)
	return nil
}

// describe prints a Manifest in the form of the cases.
func describe(t *testing.T, m Manifest) string {
	t.Helper()
	var b strings.Builder
	for _, o := range m.Objects {
		fmt.Fprintf(&b, "%s (%s)\n", o.Key, o.APIVersion())
		for _, line := range [][2]string{
			{"generateName", o.GenerateName}, {"source", o.Source}, {"problem", o.Problem}, {"note", o.Note},
		} {
			if line[1] != "" {
				fmt.Fprintf(&b, "  %s: %s\n", line[0], line[1])
			}
		}
		content, err := json.Marshal(o.Content)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "  %s\n", content)
	}
	for _, n := range m.NotCompared {
		fmt.Fprintf(&b, "not compared: %s %s/%s: %s\n", n.Kind, n.Namespace, n.Name, n.Reason)
	}
	for _, w := range m.Warnings {
		fmt.Fprintf(&b, "warning %s: %s: %s\n", w.Code, w.Object, w.Message)
	}
	for _, e := range m.Errors {
		fmt.Fprintf(&b, "error %s: %s\n", e.Code, e.Message)
	}
	return b.String()
}

const configMap = `apiVersion: v1
kind: ConfigMap
metadata:
  name: %s
data:
  k: |
    one
    two
`

// TestParseEncodings checks that line ends, byte order marks and blank heads, which editors may add, change nothing.
func TestParseEncodings(t *testing.T) {
	one, two := fmt.Sprintf(configMap, "a"), fmt.Sprintf(configMap, "b")
	plain := "---\n# Source: web/templates/a.yaml\n" + one + "---\n# Source: web/templates/b.yaml\n" + two
	want := describe(t, Parse(plain, ParseOptions{Namespace: "prod", Scope: scope}))
	if !strings.Contains(want, "source: web/templates/a.yaml") || !strings.Contains(want, `"k":"one\ntwo\n"`) {
		t.Fatalf("unexpected %s", want)
	}
	variants := map[string]string{
		"crlf":                    strings.ReplaceAll(plain, "\n", "\r\n"),
		"byte order mark":         "\ufeff" + plain,
		"no leading separator":    strings.TrimPrefix(plain, "---\n"),
		"two leading separators":  "---\n---\n" + plain,
		"comment after separator": strings.ReplaceAll(plain, "---\n", "--- # next\n"),
		"empty documents":         strings.ReplaceAll(plain, "---\n", "---\n\n---\n# nothing\n---\nnull\n---\n~\n---\n"),
		"blank head":              "\n\n \n" + plain,
	}
	for name, manifest := range variants {
		t.Run(name, func(t *testing.T) {
			got := describe(t, Parse(manifest, ParseOptions{Namespace: "prod", Scope: scope}))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-plain +got):\n%s", diff)
			}
		})
	}
}

func TestParseNothing(t *testing.T) {
	for _, manifest := range []string{"", "\n", "---\n", "---", "# comment", "---\n# Source: a\n\n---\n", "null", "\ufeff", " \r\n"} {
		if m := Parse(manifest, ParseOptions{}); m.Objects != nil || m.Errors != nil || m.Warnings != nil {
			t.Errorf("Parse(%q) = %+v", manifest, m)
		}
	}
}

// TestParseHuge checks that neither lines nor documents have a maximum length.
func TestParseHuge(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 12<<16)
	manifest := "# Source: a.yaml\n" + fmt.Sprintf(configMap, "long") + "  huge: " + long + "\n---\n" + fmt.Sprintf(configMap, "next")
	m := Parse(manifest, ParseOptions{Namespace: "prod", Scope: scope})
	if len(m.Errors) > 0 || len(m.Objects) != 2 {
		t.Fatalf("%d objects, errors %v", len(m.Objects), m.Errors)
	}
	data, _ := m.Objects[0].Content["data"].(map[string]any)
	if data["huge"] != long {
		t.Error("the long value came out changed")
	}
}

// TestParseQuotesNoSecrets checks that no message quotes a document, whatever is wrong with it.
func TestParseQuotesNoSecrets(t *testing.T) {
	broken := []string{
		"stringData: {p: canary}",
		"kind: Secret\nstringData:\n  p: canary: canary",
		"apiVersion: v1\nkind: Secret\nstringData:\n  ? {a: canary}\n  : canary",
		"apiVersion: v1\nkind: Secret\nstringData: *canary",
		"apiVersion: v1\nkind: Secret\nstringData: !!int canary",
		"kind: Secret\n---canary\n",
		"canary",
		"- canary",
		`{"canary"`,
		`{"kind": "canary`,
		`{} {} canary: [`,
		"apiVersion: v1\nkind: List\nitems: canary",
		"apiVersion: v1\nkind: List\nitems: [canary]",
		"apiVersion: canary/canary/canary\nkind: Secret\nmetadata: {name: a}",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: a, creationTimestamp: canary}",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: a, annotations: {a: {b: canary}}}",
		"apiVersion: v1\nkind: Secret\nmetadata: canary",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: a, generation: canary}",
	}
	for _, manifest := range broken {
		m := Parse(manifest, ParseOptions{Namespace: "prod", Scope: scope})
		complaints := fmt.Sprint(m.Errors, m.Warnings, m.NotCompared)
		for _, o := range m.Objects {
			complaints += o.Problem
		}
		if complaints == "[] [] []" || strings.Contains(complaints, "canary") {
			t.Errorf("%q: complaints %s", manifest, complaints)
		}
	}
}

// TestParseWithoutScope checks that objects get the namespace unless they are known to be cluster-scoped.
func TestParseWithoutScope(t *testing.T) {
	m := Parse("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n", ParseOptions{Namespace: "prod"})
	if len(m.Objects) != 1 || m.Objects[0].Namespace != "prod" {
		t.Errorf("%+v", m.Objects)
	}
}

// TestPlainMetadata checks that the shortcut for plain metadata accepts only what Kubernetes' own type
// accepts.
func TestPlainMetadata(t *testing.T) {
	values := []any{"a", "", "\xff", nil, int64(1), true, []any{"a"}, map[string]any{}, map[string]any{"k": "v"}, map[string]any{"k": nil},
		map[string]any{"k": int64(1)}, map[string]any{"k": map[string]any{"k": "v"}}}
	plain := 0
	for _, name := range []string{"name", "namespace", "labels", "annotations", "generateName", "uid", "finalizers", "creationTimestamp", "Name"} {
		for _, v := range values {
			metadata := map[string]any{"name": "a", name: v}
			if !isPlainMetadata(metadata) {
				continue
			}
			plain++
			text, err := json.Marshal(metadata)
			if err != nil {
				t.Fatal(err)
			}
			var typed metav1.ObjectMeta
			if err := utiljson.Unmarshal(text, &typed); err != nil {
				t.Errorf("%s: %v: %v", name, v, err)
			}
		}
	}
	for _, v := range values[:7] {
		if isPlainMetadata(v) {
			t.Errorf("%v is no metadata", v)
		}
	}
	if plain != 10 {
		t.Errorf("%d of the values are plain", plain)
	}
}

package absorb_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/absorb"
	"github.com/helmdrift/helmdrift/internal/absorb/search"
)

// TestWithdraw checks that a field that the final comparison refutes is not absorbed, nor are the fields whose edits touch its values, and
// that the others are proposed. The values file of the test loses every edit of b, which no real file does.
func TestWithdraw(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string][]byte{
		"Chart.yaml":  []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n"),
		"values.yaml": []byte("a: one\nb: {first: one, second: one}\n"),
		"templates/all.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n" +
			"data: {a: {{ .Values.a }}, first: {{ .Values.b.first }}, also: {{ .Values.b.first }}, second: {{ .Values.b.second }}}\n"),
	})
	file := []byte("a: one\nb: {first: one}\n")
	c, err := install(t.Context(), dir, file, false)
	if err != nil {
		t.Fatal(err)
	}
	edits := "ConfigMap web /data/a two\nConfigMap web /data/first two\nConfigMap web /data/also two\nConfigMap web /data/second two\n"
	if err := c.edit(edits); err != nil {
		t.Fatal(err)
	}
	a, err := absorb.Run(t.Context(), c.connection(), target(dir, file), absorb.Options{
		Rewrite: func(edits []search.Edit, _ map[string]any) ([]byte, error) {
			kept := slices.DeleteFunc(slices.Clone(edits), func(e search.Edit) bool { return e.Name() == "b.first" })
			return absorb.RewriteValues("values.yaml", file, kept)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `ConfigMap web data.a: absorbed
  a: one -> two
ConfigMap web data.also: left (not-rendered)
  the changed values file renders to something else
  b.first: one -> two
  also ConfigMap web data.first: one -> two overwrite
ConfigMap web data.first: left (not-rendered)
  the changed values file renders to something else
ConfigMap web data.second: absorbed
  b.second: one -> two
edit a: one -> two
edit b.second: one -> two
`
	got := a.Report("test", time.Now())
	if diff := cmp.Diff(want, described(got)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got.Kustomization == nil || strings.Contains(string(a.Content), "b: {first: two") {
		t.Errorf("no patch for what is refuted, or it is written: %s", a.Content)
	}
}

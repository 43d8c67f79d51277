package absorb_test

import (
	"fmt"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/helmdrift/helmdrift/pkg/report/absorption"
)

// TestHooksOfBothHelms absorbs the case of hooks with Helm 4, and with --no-hooks: a hook that does not run is a change of the release all
// the same.
func TestHooksOfBothHelms(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/hooks.txtar")
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string][]byte{}
	for _, f := range archive.Files {
		parts[f.Name] = f.Data
	}
	for _, options := range []string{"helm4", "no-hooks", "helm4 no-hooks"} {
		t.Run(options, func(t *testing.T) {
			if got := absorbed(t, t.TempDir(), options, parts); got != string(parts["want"]) {
				t.Errorf("got %s\nwant %s", got, parts["want"])
			}
		})
	}
}

// TestProofIncludesEffects lets the values file lose one of two changes. Without it, the other one changes a hook or another object, and
// the search has not seen that.
func TestProofIncludesEffects(t *testing.T) {
	const job = `
apiVersion: batch/v1
kind: Job
metadata: {name: migrate%s}
spec: {template: {spec: {containers: [{name: migrate, image: migrate,
  args: ["{{ if eq .Values.a "new" }}old{{ else }}{{ .Values.b }}{{ end }}"]}]}}}
`
	t.Run("hook", func(t *testing.T) { proofIncludes(t, fmt.Sprintf(job, ", annotations: {helm.sh/hook: pre-upgrade}")) })
	t.Run("object", func(t *testing.T) { proofIncludes(t, fmt.Sprintf(job, "")) })
}

// proofIncludes checks that the final comparison sees what a change moves of an object.
func proofIncludes(t *testing.T, text string) {
	t.Helper()
	parts := map[string][]byte{
		"chart/values.yaml":          []byte("a: old\nb: old\n"),
		"chart/templates/other.yaml": []byte(text),
		"chart/templates/one.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n" +
			"data: {a: {{ .Values.a }}, b: {{ .Values.b }}}\n"),
		"file.yaml": []byte("a: old\n"),
		"edits":     []byte("ConfigMap one /data/a new\nConfigMap one /data/b new\n"),
	}
	if absorbed, left := resultOf(t, t.TempDir(), "", parts).Counts(); absorbed != 2 || left != 0 {
		t.Fatalf("with both changes %d fields are absorbed and %d are left", absorbed, left)
	}
	parts["rewritten"] = []byte("b: new\n")
	for _, f := range resultOf(t, t.TempDir(), "", parts).Fields {
		if !f.IsLeft() || f.Reason != absorption.LeftNotRendered {
			t.Errorf("%s is %s (%s)", f.Field.Path, f.Status, f.Reason)
		}
	}
}

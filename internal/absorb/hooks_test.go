package absorb_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/absorb"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
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

// TestRandomHooks compares hooks that have another name in each rendering: they are matched by their template, their kind and their events.
func TestRandomHooks(t *testing.T) {
	first := []absorb.Hook{hook(t, "Job", "a-1", "pre-upgrade", "id: 1, level: info"), hook(t, "Job", "fixed", "pre-upgrade", "level: info")}
	again := []absorb.Hook{hook(t, "Job", "a-2", "pre-upgrade", "id: 2, level: info"), hook(t, "Job", "fixed", "pre-upgrade", "level: info")}
	hooks := absorb.NewHooks(first, again)
	for _, c := range []struct {
		name  string
		after []absorb.Hook
		want  string
	}{
		{"the same", []absorb.Hook{hook(t, "Job", "a-3", "pre-upgrade", "id: 3, level: info"), first[1]}, ""},
		{"a value", []absorb.Hook{hook(t, "Job", "a-3", "pre-upgrade", "id: 3, level: debug"), first[1]}, "a-3 data.level info debug"},
		{"removed", []absorb.Hook{first[1]}, "a-1 removed"},
		{"added", append([]absorb.Hook{hook(t, "Job", "b", "post-upgrade", "level: info"), hook(t, "Job", "a-3", "pre-upgrade", "id: 3, level: info")},
			first[1]), "b added"},
		{"twice", append([]absorb.Hook{first[1]}, first...), "fixed added"},
	} {
		var got []string
		for _, e := range hooks.Effects(first, c.after) {
			switch {
			case e.Before == nil:
				got = append(got, e.Key.Name+" added")
			case e.After == nil:
				got = append(got, e.Key.Name+" removed")
			default:
				got = append(got, fmt.Sprint(e.Key.Name, " ", e.Path, " ", e.Before, " ", e.After))
			}
		}
		if said := strings.Join(got, ", "); said != c.want {
			t.Errorf("%s: got %q, want %q", c.name, said, c.want)
		}
	}
}

func hook(t *testing.T, kind, name, event, data string) absorb.Hook {
	t.Helper()
	h := absorb.Hook{Events: []string{event}, Object: object.Object{Source: "web/templates/hooks.yaml"}}
	h.Kind, h.Name = kind, name
	if err := yaml.Unmarshal([]byte("metadata: {name: "+name+"}\ndata: {"+data+"}"), &h.Content); err != nil {
		t.Fatal(err)
	}
	return h
}

// TestProofIncludesHooks lets the values file lose one of two changes. Without it, the other one moves a hook, which the search has not
// seen.
func TestProofIncludesHooks(t *testing.T) {
	const hooks = `
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {helm.sh/hook: pre-upgrade}}
spec: {template: {spec: {containers: [{name: migrate, image: migrate, args: ["{{ if eq .Values.a "new" }}old{{ else }}{{ .Values.b }}{{ end }}"]}]}}}
`
	parts := map[string][]byte{
		"chart/values.yaml":          []byte("a: old\nb: old\n"),
		"chart/templates/hooks.yaml": []byte(hooks),
		"chart/templates/one.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n" +
			"data: {a: {{ .Values.a }}, b: {{ .Values.b }}}\n"),
		"file.yaml": []byte("a: old\n"),
		"edits":     []byte("ConfigMap one /data/a new\nConfigMap one /data/b new\n"),
	}
	if absorbed, left := absorption(t, t.TempDir(), "", parts).Counts(); absorbed != 2 || left != 0 {
		t.Fatalf("with both changes %d fields are absorbed and %d are left", absorbed, left)
	}
	parts["rewritten"] = []byte("b: new\n")
	for _, f := range absorption(t, t.TempDir(), "", parts).Fields {
		if !f.IsLeft() || f.Reason != report.LeftNotRendered {
			t.Errorf("%s is %s (%s)", f.Field.Path, f.Status, f.Reason)
		}
	}
}

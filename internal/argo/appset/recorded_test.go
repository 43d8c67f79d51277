package appset

import (
	"encoding/json"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/worktree"
	"github.com/helmdrift/helmdrift/pkg/object"
)

var recorded = flag.String("recorded", "", "a folder with more records of what Argo CD makes of ApplicationSets; make argocd writes one")

// TestRecorded compares with what Argo CD has made of ApplicationSets: test/argocd/story records it. A record has the tree, whose file
// set.yaml is the ApplicationSet, and the Applications in want, which begins with the error that Argo CD names, if there is one.
func TestRecorded(t *testing.T) {
	files, err := filepath.Glob("testdata/recorded/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no records", err)
	}
	more, err := filepath.Glob(filepath.Join(*recorded, "*.txtar"))
	if err != nil || *recorded != "" && len(more) == 0 {
		t.Fatalf("there are no records in %s: %v", *recorded, err)
	}
	for _, file := range append(files, more...) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tree := map[string]string{}
			for _, f := range archive.Files {
				tree[f.Name] = string(f.Data)
			}
			wanted := tree["want"]
			delete(tree, "want")
			compareRecord(t, tree, wanted)
		})
	}
}

// compareRecord compares one record.
func compareRecord(t *testing.T, tree map[string]string, wanted string) {
	t.Helper()
	root := grow(t, tree)
	answer, err := Build(Order{Tree: worktree.Tree{Root: root, Remotes: []string{remote}}, Dir: root})
	if err != nil {
		t.Fatal(err)
	}
	refusal, _, isRefused := strings.Cut(wanted, "\n")
	if isRefused = isRefused && strings.HasPrefix(refusal, "# error: "); isRefused != (len(answer.Problems) > 0) {
		t.Errorf("Argo CD: %s\nhelmdrift: %v", refusal, answer.Problems)
	}
	var want []map[string]any
	if err := yaml.Unmarshal([]byte(wanted), &want); err != nil {
		t.Fatal(err)
	}
	got := []map[string]any{}
	for _, made := range answer.Made {
		var a struct {
			Metadata map[string]any
			Spec     any
		}
		if err := json.Unmarshal(made.JSON, &a); err != nil {
			t.Fatal(err)
		}
		delete(a.Metadata, "namespace")
		a.Metadata["spec"] = a.Spec
		got = append(got, a.Metadata)
	}
	slices.SortFunc(got, func(a, b map[string]any) int { return strings.Compare(a["name"].(string), b["name"].(string)) })
	if diff := cmp.Diff(withoutEmpty(want), withoutEmpty(got)); diff != "" {
		t.Errorf("(-Argo CD +helmdrift)\n%s\n%s\n%v", diff, tree["set.yaml"], answer.Problems)
	}
}

// withoutEmpty returns Applications in a form of their own: Argo CD drops what is empty, but not in values.
func withoutEmpty(value any) any {
	switch v := value.(type) {
	case []map[string]any:
		out := []any{}
		for _, one := range v {
			out = append(out, withoutEmpty(one))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			if key != "valuesObject" {
				inner = withoutEmpty(inner)
			}
			if !object.IsZero(inner) {
				out[key] = inner
			}
		}
		return out
	case []any:
		out := []any{}
		for _, inner := range v {
			out = append(out, withoutEmpty(inner))
		}
		return out
	}
	return value
}

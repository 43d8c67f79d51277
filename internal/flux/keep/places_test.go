package keep

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/casetest"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/fluxtest"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/places/placestest"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestPlaces changes values of HelmRelease shop/web in trees. A file of testdata/places has the tree below tree/, what the cluster has in
// cluster.yaml, the changes in edits, and in want the differences of the files, or why they cannot be made. Its comment may name the folder
// that is built; otherwise that is "apps". A line "link FROM TO" of it makes a symbolic link, and "line breaks" those of Windows.
func TestPlaces(t *testing.T) {
	casetest.Run(t, "testdata/places/*.txtar", runPlaces)
}

// runPlaces returns what a case should have as want.
func runPlaces(t *testing.T, archive *txtar.Archive) string {
	root := t.TempDir()
	cluster := fluxtest.Served{Versions: strings.Fields("/v1 helm.toolkit.fluxcd.io/v2 kustomize.toolkit.fluxcd.io/v1 source.toolkit.fluxcd.io/v1"),
		Objects: map[object.Ref]map[string]any{}}
	var edits string
	comment := string(archive.Comment)
	for _, f := range archive.Files {
		name, inTree := strings.CutPrefix(f.Name, "tree/")
		switch {
		case inTree:
			if strings.Contains(comment, "line breaks") {
				f.Data = []byte(strings.ReplaceAll(string(f.Data), "\n", "\r\n"))
			}
			writeFile(t, filepath.Join(root, name), f.Data)
		case f.Name == "cluster.yaml":
			for _, text := range strings.Split(string(f.Data), "---\n") {
				content := map[string]any{}
				if err := yaml.Unmarshal([]byte(text), &content); err != nil {
					t.Fatal(err)
				}
				cluster.Objects[api.RefOf(api.KindOf(content), content)] = content
			}
		case f.Name == "edits":
			edits = string(f.Data)
		}
	}
	writeFile(t, filepath.Join(root, ".git", "config"), []byte("[remote \"origin\"]\n\turl = https://git.example.com/team/shop\n"))
	dir := "apps"
	for line := range strings.Lines(comment) {
		switch words := strings.Fields(line); {
		case len(words) == 3 && words[0] == "link":
			if err := os.Symlink(words[2], filepath.Join(root, words[1])); err != nil {
				t.Fatal(err)
			}
		case len(words) == 2 && words[0] == "build":
			dir = words[1]
		}
	}
	order, err := applied.Order(filepath.Join(root, dir), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	build := func(from drift.Connection, order tree.Order) (*applied.Tree, error) {
		return applied.New(t.Context(), from, order, nil, func(ctx context.Context, ask applied.Questions) (tree.Answer, error) {
			return applied.Build(ctx, order, ask)
		})
	}
	from := drift.Connection{Cluster: cluster}
	laid, err := build(from, order)
	if err != nil {
		t.Fatal(err)
	}
	h, err := api.Read(t.Context(), laid.Over, "shop", "web")
	if err != nil {
		t.Fatal(err, laid.Problems())
	}
	composed, err := h.Compose(t.Context(), laid.Over)
	if err != nil {
		t.Fatal(err)
	}
	k, err := New(t.Context(), laid, h, composed, from, build)
	if err != nil {
		t.Fatal(err)
	}
	again := func() (map[string]any, error) {
		built, err := k.build(k.from, k.tree.Order())
		if err != nil {
			return nil, err
		}
		h, err := api.Read(t.Context(), built.Over, "shop", "web")
		if err != nil {
			return nil, err
		}
		composed, err := h.Compose(t.Context(), built.Over)
		if err != nil {
			return nil, err
		}
		return composed.Values, nil
	}
	return strings.ReplaceAll(placestest.Run(t, k, edits, again), root, "ROOT")
}

func writeFile(t *testing.T, name string, text []byte) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = os.WriteFile(name, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

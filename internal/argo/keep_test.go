package argo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/argo/appset"
	"github.com/helmdrift/helmdrift/internal/argo/source"
	"github.com/helmdrift/helmdrift/internal/casetest"
	"github.com/helmdrift/helmdrift/internal/places/placestest"
	"github.com/helmdrift/helmdrift/internal/worktree"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// keptCluster is a cluster for the rendering of charts.
type keptCluster struct{ fakeCluster }

func (keptCluster) Capabilities(context.Context) (*chartutil.Capabilities, error) {
	return chartutil.DefaultCapabilities.Copy(), nil
}
func (keptCluster) Undiscovered() []string { return nil }

// TestPlaces changes values of Application argocd/web in trees. A file of testdata/places has the tree below tree/, the Applications of the
// cluster in cluster.yaml, the changes in edits, and in want the differences of the files, or why they cannot be made. Its comment may have
// a line "link FROM TO", which makes a symbolic link. The tree is searched below apps, and "https://git.example.com/charts" is another
// repository, which has the file prod.yaml.
func TestPlaces(t *testing.T) {
	casetest.Run(t, "testdata/places/*.txtar", runPlaces)
}

func runPlaces(t *testing.T, archive *txtar.Archive) string {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	writeFile(t, filepath.Join(elsewhere, "prod.yaml"), "outside: elsewhere\n")
	from := drift.Connection{Cluster: keptCluster{fakeCluster{objects: map[object.Ref]map[string]any{}}}}
	edits := ""
	for _, f := range archive.Files {
		name, inTree := strings.CutPrefix(f.Name, "tree/")
		switch {
		case inTree:
			writeFile(t, filepath.Join(root, name), string(f.Data))
		case f.Name == "cluster.yaml":
			content := contentOf(t, string(f.Data))
			key := object.RefOf(content).Key
			from.Cluster.(keptCluster).objects[api.RefTo("Application", key.Namespace, key.Name)] = content
		case f.Name == "edits":
			edits = string(f.Data)
		}
	}
	for line := range strings.Lines(string(archive.Comment)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "link" {
			if err := os.Symlink(words[2], filepath.Join(root, words[1])); err != nil {
				t.Fatal(err)
			}
		}
	}
	keeper := func() (*Keeper, error) {
		q := Question{Namespace: "argocd", Name: "web",
			Render: func(context.Context, drift.ChartRequest) (*drift.RenderedChart, error) {
				return &drift.RenderedChart{}, nil
			},
			ReadManifest: func(_ context.Context, r *release.Record) ([]render.Document, error) {
				return render.ReadDocuments(r.Manifest), nil
			},
			Fetcher: source.Fetcher{Commit: func(_ context.Context, o source.CommitOrder) (string, string, func(), error) {
				if o.URL != "https://git.example.com/charts" {
					return "", "", func() {}, errors.New("there is no such repository")
				}
				return elsewhere, "c0ffee", func() {}, nil
			}}}
		of := worktree.Tree{Root: root, Remotes: []string{"git@git.example.com:shop.git"}}
		tree, err := NewTree(t.Context(), from, q, filepath.Join(root, "apps"), of,
			func(_ context.Context, o appset.Order) (appset.Answer, error) { return appset.Build(o) })
		if err != nil {
			return nil, err
		}
		q.Tree = tree
		app, err := tree.find(t.Context(), from, q)
		if err != nil {
			return nil, err
		}
		p := &Plan{app: app, from: from}
		p.made, p.unmade = p.renderAll(t.Context(), q)
		return p.Keep(t.Context(), tree)
	}
	k, err := keeper()
	if err != nil {
		return err.Error() + "\n"
	}
	again := func() (map[string]any, error) {
		written, err := keeper()
		if err != nil {
			return nil, err
		}
		return written.Values.Compose()
	}
	return strings.ReplaceAll(placestest.Run(t, k, edits, again), root, "ROOT")
}

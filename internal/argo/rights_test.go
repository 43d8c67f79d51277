package argo

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/argo/appset"
	"github.com/helmdrift/helmdrift/internal/worktree"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// deniedCluster denies one read or one list, and notes which there are.
type deniedCluster struct {
	fakeCluster
	denied string
	asked  map[string]bool
}

func (c deniedCluster) Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := c.fakeCluster.Read(ctx, wanted)
	for _, ref := range wanted {
		name := "get " + ref.Kind + " " + ref.Namespace + "/" + ref.Name
		if c.asked[name] = true; name == c.denied {
			out[ref] = cluster.Live{Err: &report.ObjectError{Message: "forbidden"}}
		}
	}
	return out
}

func (c deniedCluster) List(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]map[string]any, error) {
	name := "list " + kind.Kind + " " + namespace
	if c.asked[name] = true; name == c.denied {
		return nil, errors.New("forbidden")
	}
	return c.fakeCluster.List(ctx, kind, namespace)
}

// TestRights takes one right after the other away from a comparison of a tree: what could not be seen is an error.
func TestRights(t *testing.T) {
	const owner = "ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, controller: true, name: "
	files := map[string]string{
		"roots/root.yaml": appOf("root", "children", "") + "  syncPolicy: {automated: {prune: true}}\n", "children/x.yaml": appOf("child", "apps", ""),
		"apps/x.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}",
		"roots/set.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s, namespace: argocd}\nspec:\n  generators: [{list: {elements: [{a: b}]}}]\n" +
			"  strategy: {type: RollingSync, rollingSync: {steps: []}}\n  template: {metadata: {name: 'x-{{a}}'}, spec: {destination: {name: in-cluster}, source: {repoURL: 'https://git.example.com/shop', path: apps}}}\n",
	}
	var live []map[string]any
	for _, text := range []string{
		head + "metadata: {name: root, namespace: argocd}, status: {resources: [{group: argoproj.io, version: v1alpha1, kind: ApplicationSet, namespace: argocd, name: gone}]}}",
		head + "metadata: {name: x-b, namespace: argocd, " + owner + "s}]}}", head + "metadata: {name: of-gone, namespace: argocd, " + owner + "gone}]}}",
		"{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, metadata: {name: gone, namespace: argocd}, spec: {}}",
		"{apiVersion: argoproj.io/v1alpha1, kind: AppProject, metadata: {name: default, namespace: argocd}, spec: {sourceRepos: ['*'], destinations: [{server: '*', namespace: '*'}]}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: argocd-cm, namespace: argocd}}",
	} {
		live = append(live, readYAML(t, text))
	}
	root := t.TempDir()
	for name, text := range files {
		writeFile(t, root+"/"+name, text)
	}
	unseen := func(denied string) (out []string, asked map[string]bool) {
		asked = map[string]bool{}
		from := drift.Connection{Cluster: deniedCluster{clusterOf(live), denied, asked}}
		q := Question{Namespace: "argocd", ReadManifest: func(_ context.Context, r *release.Record) ([]render.Document, error) {
			return render.ReadDocuments(r.Manifest), nil
		}}
		tree, err := NewTree(t.Context(), from, q, root+"/roots", worktree.Tree{Root: root, Remotes: []string{"git@git.example.com:shop.git"}},
			func(_ context.Context, o appset.Order) (appset.Answer, error) { return appset.Build(o) })
		if err != nil {
			return []string{err.Error()}, asked
		}
		q.Tree = tree
		gone, err := tree.dropped(t.Context(), from, q)
		if err != nil {
			out = append(out, err.Error())
		}
		out = append(out, tree.Problems()...)
		for _, a := range append(tree.all(), gone...) {
			if a.Fault != nil {
				out = append(out, a.Fault.Error())
				continue
			}
			p, err := newPlan(t.Context(), from, q, a)
			if err != nil {
				out = append(out, err.Error())
				continue
			}
			p.Finish(nil, &report.Release{})
			for _, problem := range p.problems {
				out = append(out, problem.Message)
			}
		}
		return out, asked
	}
	all, asked := unseen("")
	if len(all) > 0 || len(asked) < 8 {
		t.Fatal(all, asked)
	}
	for denied := range asked {
		if strings.Contains(denied, "get ConfigMap argocd/x") || strings.Contains(denied, "get ConfigMap /x") {
			continue // the comparison itself reads the objects of the Applications
		}
		got, _ := unseen(denied)
		if !strings.Contains(strings.Join(got, "\n"), "forbidden") {
			t.Errorf("%s: %q", denied, got)
		}
	}
}

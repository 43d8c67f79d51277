package argo_test

import (
	"context"
	"testing"

	"github.com/helmdrift/helmdrift/internal/argo"
	"github.com/helmdrift/helmdrift/internal/argo/source"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestDesired checks what a report calls the source of an Application: a chart, a kustomization, or a folder of manifests.
func TestDesired(t *testing.T) {
	const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	files := map[string]string{
		"chart/Chart.yaml": "{apiVersion: v2, name: web, version: 1.0.0}\n", "chart/templates/a.yaml": configMap,
		"overlays/prod/kustomization.yaml": "resources: [a.yaml]\n", "overlays/prod/a.yaml": configMap, "plain/a.yaml": configMap,
	}
	for name, c := range map[string]struct {
		sources []map[string]any
		want    report.Desired
	}{
		"a chart":             {[]map[string]any{{"path": "chart"}}, report.Desired{Source: "chart", Chart: "web-1.0.0"}},
		"a kustomization":     {[]map[string]any{{"path": "overlays/prod"}}, report.Desired{Source: "kustomization", Chart: "overlays/prod"}},
		"a folder":            {[]map[string]any{{"path": "plain"}}, report.Desired{Source: "folder", Chart: "plain"}},
		"the whole tree":      {[]map[string]any{{"path": ".", "directory": map[string]any{"recurse": false}}}, report.Desired{Source: "folder", Chart: "."}},
		"no path":             {[]map[string]any{{"directory": map[string]any{"recurse": false}}}, report.Desired{Source: "folder", Chart: "."}},
		"a folder, a chart":   {[]map[string]any{{"path": "plain"}, {"path": "chart"}}, report.Desired{Source: "folder", Chart: "plain"}},
		"what makes nothing":  {[]map[string]any{{"ref": "values"}}, report.Desired{Source: "chart"}},
		"a ref, then a chart": {[]map[string]any{{"ref": "values"}, {"path": "chart"}}, report.Desired{Source: "chart", Chart: "web-1.0.0"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := &randomApplication{root: t.TempDir(), revision: "main", name: "web", namespace: "shop", server: "v1.36.3", sources: c.sources, files: files}
			for _, s := range c.sources {
				s["repoURL"] = "https://git.example.com/team/shop"
			}
			a.write(t)
			plan, err := argo.New(t.Context(), drift.Connection{Cluster: renderingCluster{of: a}}, argo.Question{
				Namespace: "argocd", Name: a.name, Render: drift.RenderChart, Fetcher: source.Fetcher{Commit: a.commit},
				ReadManifest: func(_ context.Context, r *release.Record) ([]render.Document, error) {
					return render.ReadDocuments(r.Manifest), nil
				},
				Kustomize: func(_ context.Context, order source.KustomizeOrder) (string, error) { return order.Build(nil) },
			})
			if err != nil {
				t.Fatal(err)
			}
			defer plan.Close()
			made, err := plan.Adapt(drift.Options{}).Render(t.Context(), drift.ChartRequest{})
			if err != nil {
				t.Fatal(err)
			}
			r := &report.Release{Desired: &report.Desired{Source: "chart", Chart: made.Rendered.ChartName + "-" + made.Rendered.ChartVersion}} // as pkg/drift does
			if plan.Finish(nil, r); *r.Desired != c.want {
				t.Errorf("%+v, want %+v", *r.Desired, c.want)
			}
		})
	}
}

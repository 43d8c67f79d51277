package flux

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// served is a cluster that serves some versions of kinds and has objects of any kind.
type served struct {
	drift.Cluster
	versions []string
	objects  map[object.Ref]map[string]any
}

// Read implements drift.Cluster.
func (s served) Read(_ context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := map[object.Ref]cluster.Live{}
	for _, ref := range wanted {
		live := cluster.Live{Absence: cluster.AbsentKind}
		for _, version := range s.versions {
			if ref.Group+"/"+ref.Version == version {
				live = cluster.Live{Object: s.objects[ref]}
			}
		}
		out[ref] = live
	}
	return out
}

// OpenAPI implements drift.Cluster.
func (s served) OpenAPI(context.Context, []schema.GroupVersion) (map[schema.GroupVersion][]byte, []report.Message) { return nil, nil }

// TestVersions lays objects of older versions over clusters.
func TestVersions(t *testing.T) {
	const rendered = `
apiVersion: helm.toolkit.fluxcd.io/v2beta2
kind: HelmRelease
metadata: {name: web, namespace: shop}
spec: {suspend: true}
---
apiVersion: source.toolkit.fluxcd.io/v1beta2
kind: HelmRepository
metadata: {name: charts, namespace: shop}
spec: {url: https://example.com/charts}
`
	for _, tt := range []struct {
		name, versions, want string
		releases             int
	}{
		{"served", "helm.toolkit.fluxcd.io/v2 helm.toolkit.fluxcd.io/v2beta2 source.toolkit.fluxcd.io/v1 source.toolkit.fluxcd.io/v1beta2", "", 1},
		{"not served", "helm.toolkit.fluxcd.io/v2 source.toolkit.fluxcd.io/v1",
			"the folder itself: Flux cannot apply it: the cluster does not serve HelmRelease of helm.toolkit.fluxcd.io/v2beta2, and HelmRelease " +
				"shop/web has this version", 0},
		{"without Flux", "", "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from := served{versions: strings.Fields(tt.versions)}
			laid, err := NewTree(t.Context(), drift.Connection{Cluster: from}, tree.Order{Dir: "-", Rendered: true, Text: []byte(rendered)},
				func(ctx context.Context, ask func(context.Context, LookupOrder) ([]byte, error)) (tree.Answer, error) {
					return BuildTree(ctx, tree.Order{Dir: "-", Rendered: true, Text: []byte(rendered)}, func(o LookupOrder) ([]byte, error) {
						return ask(ctx, o)
					})
				})
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			for _, p := range laid.problems {
				if p.Severity == tree.Failed {
					said += p.Where + ": " + p.Message
				}
			}
			if said != tt.want || len(laid.releases()) != tt.releases {
				t.Errorf("%d releases, and it says %q", len(laid.releases()), said)
			}
			if tt.releases == 0 {
				return
			}
			h, err := Read(t.Context(), laid.over, "shop", "web")
			if err != nil || !h.Spec.Suspend {
				t.Errorf("%+v, %v", h, err)
			}
			if s, err := readSource(t.Context(), laid.over, "HelmRepository", "shop", "charts"); err != nil || !s.inTree {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

package applied

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/fluxtest"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
)

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
			from := fluxtest.Served{Versions: strings.Fields(tt.versions)}
			laid, err := New(t.Context(), drift.Connection{Cluster: from}, tree.Order{Dir: "-", Rendered: true, Text: []byte(rendered)}, nil,
				func(ctx context.Context, ask Questions) (tree.Answer, error) {
					return Build(ctx, tree.Order{Dir: "-", Rendered: true, Text: []byte(rendered)}, ask)
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
			if said != tt.want || len(laid.HelmReleases()) != tt.releases {
				t.Errorf("%d releases, and it says %q", len(laid.HelmReleases()), said)
			}
			if tt.releases == 0 {
				return
			}
			h, err := api.Read(t.Context(), laid.Over, "shop", "web")
			if err != nil || !h.Spec.Suspend {
				t.Errorf("%+v, %v", h, err)
			}
			charts := object.Ref{Key: object.Key{Group: api.SourceGroup, Kind: "HelmRepository", Namespace: "shop", Name: "charts"}, Version: "v1"}
			if !laid.Over.Makes(charts) {
				t.Error("the tree does not make the source")
			}
		})
	}
}

// TestTreeCredentials checks that a tree cannot send a Secret of the cluster elsewhere: credentials of a source stay only if the cluster
// has the source with the same server and the same Secret.
func TestTreeCredentials(t *testing.T) {
	for _, tt := range []struct {
		name, kind, spec, live string
		keeps                  bool
	}{
		{"as it is", "HelmRepository", "url: https://example.com/charts", "", true},
		{"another path", "HelmRepository", "url: https://example.com/other", "", true},
		{"another host", "HelmRepository", "url: https://example.org/charts", "", false},
		{"another port", "HelmRepository", "url: https://example.com:8443/charts", "", false},
		{"another scheme", "HelmRepository", "url: http://example.com/charts", "", false},
		{"a user that looks like the host", "HelmRepository", "url: https://example.com@example.org/charts", "", false},
		{"an endpoint that looks like the URL", "HelmRepository", "url: https://example.org/charts, endpoint: example.com", "", false},
		{"no address", "HelmRepository", "type: oci", "type: oci", false},
		{"another Secret", "HelmRepository", "url: https://example.com/charts, secretRef: {name: database}", "", false},
		{"a new source", "HelmRepository", "url: https://example.com/charts", "none", false},
		{"a Bucket as it is", "Bucket", "endpoint: example.com, bucketName: charts", "endpoint: example.com, bucketName: charts", true},
		{"another bucket", "Bucket", "endpoint: example.com, bucketName: other", "endpoint: example.com, bucketName: charts", true},
		{"another endpoint", "Bucket", "endpoint: example.org, bucketName: charts", "endpoint: example.com, bucketName: charts", false},
		{"another port of a Bucket", "Bucket", "endpoint: 'example.com:9000'", "endpoint: example.com", false},
		{"without TLS", "Bucket", "endpoint: example.com, insecure: true", "endpoint: example.com", false},
		{"a URL that looks like the endpoint", "Bucket", "endpoint: example.org, url: 'https://example.com'", "endpoint: example.com, url: 'https://example.com'", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			source := func(spec string) map[string]any {
				out := map[string]any{"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": tt.kind,
					"metadata": map[string]any{"name": "charts", "namespace": "shop"}}
				fields := map[string]any{"secretRef": map[string]any{"name": "login"}}
				if err := yaml.Unmarshal([]byte("{"+spec+"}"), &fields); err != nil {
					t.Fatal(err)
				}
				out["spec"] = fields
				return out
			}
			ref := object.Ref{Key: object.Key{Group: api.SourceGroup, Kind: tt.kind, Namespace: "shop", Name: "charts"}, Version: "v1"}
			from := fluxtest.Served{Versions: []string{"source.toolkit.fluxcd.io/v1"}, Objects: map[object.Ref]map[string]any{}}
			switch tt.live {
			case "none":
			case "":
				from.Objects[ref] = source("url: https://example.com/charts")
			default:
				from.Objects[ref] = source(tt.live)
			}
			text, err := json.Marshal(source(tt.spec))
			if err != nil {
				t.Fatal(err)
			}
			laid, err := New(t.Context(), drift.Connection{Cluster: from}, tree.Order{Rendered: true}, nil,
				func(context.Context, Questions) (tree.Answer, error) {
					return tree.Answer{Objects: []tree.Object{{JSON: text}}}, nil
				})
			if err != nil {
				t.Fatal(err)
			}
			made := object.Child(laid.Over.Made(ref), "spec")
			if object.Has(made, "secretRef") != tt.keeps {
				t.Errorf("%+v", made)
			}
			if said := fmt.Sprint(laid.problems); strings.Contains(said, "credentials are not used") == tt.keeps {
				t.Errorf("it says %s", said)
			}
		})
	}
}

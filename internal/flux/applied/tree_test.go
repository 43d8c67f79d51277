package applied

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

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
			laid, err := New(t.Context(), drift.Connection{Cluster: from}, tree.Order{Dir: "-", Rendered: true, Text: []byte(rendered)},
				func(ctx context.Context, ask func(context.Context, LookupOrder) ([]byte, error)) (tree.Answer, error) {
					return Build(ctx, tree.Order{Dir: "-", Rendered: true, Text: []byte(rendered)}, Questions{
						Lookup: func(o LookupOrder) ([]byte, error) { return ask(ctx, o) },
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

// TestTreeCredentials checks that a tree cannot send a Secret of the cluster elsewhere: credentials of a source stay only if the cluster has the
// source with the same server and the same Secret.
func TestTreeCredentials(t *testing.T) {
	source := func(url, login string) map[string]any {
		return map[string]any{"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmRepository",
			"metadata": map[string]any{"name": "charts", "namespace": "shop"},
			"spec":     map[string]any{"url": url, "secretRef": map[string]any{"name": login}}}
	}
	ref := object.Ref{Key: object.Key{Group: api.SourceGroup, Kind: "HelmRepository", Namespace: "shop", Name: "charts"}, Version: "v1"}
	for _, tt := range []struct {
		name, url, login string
		isNew, keeps     bool
	}{
		{"as it is", "https://example.com/charts", "login", false, true},
		{"another path", "https://example.com/other", "login", false, true},
		{"another host", "https://example.org/charts", "login", false, false},
		{"another port", "https://example.com:8443/charts", "login", false, false},
		{"another scheme", "http://example.com/charts", "login", false, false},
		{"a user that looks like the host", "https://example.com@example.org/charts", "login", false, false},
		{"another Secret", "https://example.com/charts", "database", false, false},
		{"a new source", "https://example.com/charts", "login", true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from := fluxtest.Served{Versions: []string{"source.toolkit.fluxcd.io/v1"}, Objects: map[object.Ref]map[string]any{}}
			if !tt.isNew {
				from.Objects[ref] = source("https://example.com/charts", "login")
			}
			text, err := json.Marshal(source(tt.url, tt.login))
			if err != nil {
				t.Fatal(err)
			}
			laid, err := New(t.Context(), drift.Connection{Cluster: from}, tree.Order{Rendered: true},
				func(context.Context, func(context.Context, LookupOrder) ([]byte, error)) (tree.Answer, error) {
					return tree.Answer{Objects: []tree.Object{{JSON: text}}}, nil
				})
			if err != nil {
				t.Fatal(err)
			}
			made := object.Child(laid.Over.Made(ref), "spec")
			if made["url"] != tt.url || object.Has(made, "secretRef") != tt.keeps {
				t.Errorf("%+v", made)
			}
			if said := fmt.Sprint(laid.problems); strings.Contains(said, "credentials are not used") == tt.keeps {
				t.Errorf("it says %s", said)
			}
		})
	}
}

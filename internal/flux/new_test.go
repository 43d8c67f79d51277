package flux

import (
	"context"
	"testing"

	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/fluxtest"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/pkg/drift"
)

// TestNew asks what Flux waits for if the tree has a new HelmRelease and a new source: nothing, as the controllers have not looked at them.
func TestNew(t *testing.T) {
	const db = `{"apiVersion":"helm.toolkit.fluxcd.io/v2","kind":"HelmRelease","metadata":{"name":"db","namespace":"shop"},"spec":{}}`
	const charts = `{"apiVersion":"source.toolkit.fluxcd.io/v1","kind":"OCIRepository","metadata":{"name":"charts","namespace":"shop"},
		"spec":{"url":"oci://registry.example.com/web","ref":{"tag":"1.0.0"}}}`
	from := fluxtest.Served{Versions: []string{"helm.toolkit.fluxcd.io/v2", "source.toolkit.fluxcd.io/v1"}}
	laid, err := applied.New(t.Context(), drift.Connection{Cluster: from}, tree.Order{Rendered: true}, nil,
		func(context.Context, applied.Questions) (tree.Answer, error) {
			return tree.Answer{Objects: []tree.Object{{JSON: []byte(db)}, {JSON: []byte(charts)}}}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	p := &Plan{reading: laid.Over, tree: laid}
	if why, err := p.waitsFor(t.Context(), "shop", "db", "the dependency"); why != "" || err != nil {
		t.Errorf("Flux waits because %s; %v", why, err)
	}
	if s, err := readSource(t.Context(), laid.Over, "OCIRepository", "shop", "charts"); err != nil || s.waits("the source") != "" {
		t.Errorf("Flux waits because %s; %v", s.waits("the source"), err)
	}
}

package flux

import (
	"context"
	"testing"

	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/fluxtest"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
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

// TestSetReader reads what a HelmRelease of the tree uses. Flux Operator made the ConfigMap values, and objects that the tree has itself or
// that the HelmRelease does not use.
func TestSetReader(t *testing.T) {
	const web = `{"apiVersion":"helm.toolkit.fluxcd.io/v2","kind":"HelmRelease","metadata":{"name":"web","namespace":"shop"},"spec":{` +
		`"valuesFrom":[{"kind":"ConfigMap","name":"values"},{"kind":"ConfigMap","name":"more"}]}}`
	const more = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"more","namespace":"shop"},"data":{"values.yaml":"a: b"}}`
	const charts = `{"apiVersion":"source.toolkit.fluxcd.io/v1","kind":"OCIRepository","metadata":{"name":"charts","namespace":"shop"}}`
	const format = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: shop, labels: {" +
		"resourceset.fluxcd.controlplane.io/name: %s, resourceset.fluxcd.controlplane.io/namespace: shop}}, data: {values.yaml: 'c: d'}}"
	from := fluxtest.Served{Versions: []string{"helm.toolkit.fluxcd.io/v2", "source.toolkit.fluxcd.io/v1", "/v1"},
		Objects: map[object.Ref]map[string]any{}}
	for name, set := range map[string]string{"values": "tenants", "more": "replaced", "unused": "other"} {
		ref, content := fluxtest.Decoded(t, format, name, set)
		from.Objects[ref] = content
	}
	reading := setReader{laidOver(t, from, tree.Problem{}, web, more, charts).Over, map[string]bool{}}
	h, err := api.Read(t.Context(), reading, "shop", "web")
	if err == nil {
		_, err = h.Compose(t.Context(), reading)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		release, set string
		want         bool
	}{{"web", "tenants", true}, {"web", "replaced", false}, {"web", "other", false}, {"absent", "other", true}} {
		if got := reading.mayMake(api.HelmReleaseRef("shop", tt.release), "ResourceSet shop/"+tt.set); got != tt.want {
			t.Errorf("ResourceSet %s may make %s or what it uses: %t", tt.set, tt.release, got)
		}
	}
	if s, err := readSource(t.Context(), reading, "OCIRepository", "shop", "charts"); err != nil || !s.inTree {
		t.Errorf("the source is not of the tree: %v", err)
	}
}

package vary

import (
	"context"
	"errors"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/helmdrift/helmdrift/pkg/render"
)

// TestVariantPostRender checks that the post-renderer of a variant gets the output of the chart's post-renderer, and that it does not
// run for the next variant.
func TestVariantPostRender(t *testing.T) {
	o := render.ChartOptions{
		Path: "../../../pkg/render/testdata/charts/web", ReleaseName: "web", Namespace: "prod", LastRevision: 4,
		Capabilities: &chartutil.Capabilities{KubeVersion: chartutil.KubeVersion{Version: "v1.36.3", Major: "1", Minor: "36"}},
		PostRender: func(context.Context, []byte) ([]byte, error) {
			return []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"), nil
		},
	}
	v, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	patched := v.Render(t.Context(), Variant{Values: []byte("{}"), PostRender: func(manifest []byte) ([]byte, error) {
		return []byte(strings.ReplaceAll(string(manifest), "name: a", "name: b")), nil
	}})
	if len(patched.Changed) != 1 || !strings.Contains(string(patched.Changed[0].JSON), `"name":"b"`) {
		t.Errorf("the variant renders to %+v", patched)
	}
	refused := v.Render(t.Context(), Variant{Values: []byte("{}"), PostRender: func([]byte) ([]byte, error) { return nil, errors.New("refused") }})
	if !strings.Contains(refused.Fault, "refused") {
		t.Errorf("the error of a post-renderer is %q", refused.Fault)
	}
	if plain := v.Render(t.Context(), Variant{Values: []byte("{}")}); len(plain.Same) != 1 {
		t.Errorf("without post-renderer, the variant renders to %+v", plain)
	}
}

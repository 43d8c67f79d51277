package ignore

import (
	"testing"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestPatternCovers: a pattern covers what it names and what stands below, found in live by keys, index or *.
func TestPatternCovers(t *testing.T) {
	live := map[string]any{
		"spec": map[string]any{"replicas": int64(2), "ports": []any{
			map[string]any{"port": int64(80), "protocol": "TCP", "name": "http"},
			map[string]any{"port": int64(53), "protocol": "UDP", "name": "dns"},
		}},
		"metadata": map[string]any{"annotations": map[string]any{"a.b/c": "x", "8080": "y"}, "finalizers": []any{"ex.com/f", "7"}},
	}
	spec, annotations := object.Path{}.Field("spec"), object.Path{}.Field("metadata").Field("annotations")
	http := spec.Field("ports").Item([]object.ListKey{{Name: "port", Value: int64(80)}, {Name: "protocol", Value: "TCP"}})
	dns := spec.Field("ports").Item([]object.ListKey{{Name: "port", Value: int64(53)}, {Name: "protocol", Value: "UDP"}})
	for _, tt := range []struct {
		pattern string
		path    object.Path
		want    bool
	}{
		{"/spec/replicas", spec.Field("replicas"), true},
		{"/spec", spec.Field("replicas"), true},
		{"", spec.Field("replicas"), true},
		{"/spec/replicas", spec, false},
		{"/spec/replica", spec.Field("replicas"), false},
		{"/spec/*", spec.Field("replicas"), true},
		{"/spec/ports/[name=http]", http, true},
		{"/spec/ports/[name=http]/targetPort", http.Field("targetPort"), true},
		{"/spec/ports/[name=http]", dns, false},
		{"/spec/ports/[port=53,protocol=UDP]", dns, true},
		{"/spec/ports/[port=53,protocol=TCP]", dns, false},
		{"/spec/ports/[name=d*]", dns, true},
		{"/spec/ports/0", http, true},
		{"/spec/ports/1", http, false},
		{"/spec/ports/1/name", dns.Field("name"), true},
		{"/spec/ports/9", dns, false},
		{"/spec/ports/*/name", dns.Field("name"), true},
		{"/metadata/annotations/a.b~1c", annotations.Field("a.b/c"), true},
		{"/metadata/annotations/8080", annotations.Field("8080"), true},
		{"/metadata/finalizers/ex.com~1f", object.Path{}.Field("metadata").Field("finalizers").SetItem("ex.com/f"), true},
		{"/metadata/finalizers/7", object.Path{}.Field("metadata").Field("finalizers").SetItem("7"), true},
		{"/metadata/finalizers/1", object.Path{}.Field("metadata").Field("finalizers").SetItem("7"), true},
		{"/metadata/finalizers/7", object.Path{}.Field("metadata").Field("finalizers").SetItem("ex.com/f"), false},
	} {
		p, err := ParsePattern(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.covers(tt.path, []any{live}); got != tt.want {
			t.Errorf("%s covers %s: %v", tt.pattern, tt.path, got)
		}
	}
}

// TestPatternErrors: a broken pattern says what is wrong with it.
func TestPatternErrors(t *testing.T) {
	for _, text := range []string{"spec/replicas", "/spec/[name]", "/spec/[name=x", "/a~2b", "/spec/[=x]"} {
		if _, err := ParsePattern(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// TestPatternFits: a pattern that cannot name anything of the kind is known.
func TestPatternFits(t *testing.T) {
	deployment := kinds.Native().Shape(object.Ref{Key: object.Key{Group: "apps", Kind: "Deployment"}, Version: "v1"}.GVK())
	for pattern, want := range map[string]bool{
		"/spec/replicas": true, "/spec/replica": false, "/spec/template/spec/containers/[name=web]/image": true,
		"/spec/template/spec/containers/0/imag": false, "/metadata/annotations/x~1y": true, "/spec/replicas/0": false,
		"/spec/template/spec/containers/*/env/[name=A]/value": true, "/data/x": false, "/metadata/finalizers/x": true,
	} {
		p, err := ParsePattern(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.fits(deployment); got != want {
			t.Errorf("%s fits a Deployment: %v", pattern, got)
		}
	}
}

package ignore

import (
	"testing"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestPatternCovers checks that a pattern covers what it names and what is below, and finds items in live by keys, index or *.
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

// TestPatternErrors checks that an invalid pattern is an error.
func TestPatternErrors(t *testing.T) {
	for _, text := range []string{"spec/replicas", "/spec/[name]", "/spec/[name=x", "/a~2b", "/spec/[=x]"} {
		if _, err := ParsePattern(text); err == nil {
			t.Errorf("%q is no error", text)
		}
	}
}

// TestPatternFits checks whether a pattern can name something in an object of a kind.
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

// TestPointer checks that a JSON pointer has no patterns, as controllers read it.
func TestPointer(t *testing.T) {
	live := map[string]any{
		"data": map[string]any{"a": "1", "a*": "2", "[name=x]": "3", "~": "4", "": "5"},
		"list": []any{map[string]any{"name": "x"}}, "metadata": map[string]any{"finalizers": []any{"a"}},
	}
	data, finalizers := object.Path{}.Field("data"), object.Path{}.Field("metadata").Field("finalizers")
	item := object.Path{}.Field("list").Item([]object.ListKey{{Name: "name", Value: "x"}})
	for _, tt := range []struct {
		pointer string
		path    object.Path
		want    bool
	}{
		{"/data/a", data.Field("a"), true},
		{"/data/*", data.Field("a"), false},
		{"/data/a*", data.Field("a"), false},
		{"/data/a*", data.Field("a*"), true},
		{"/data/[name=x]", data.Field("[name=x]"), true},
		{"/data/~0", data.Field("~"), true},
		{"/data/", data.Field(""), true},
		{"/list/[name=x]", item, false},
		{"/list/*", item, false},
		{"/list/0", item, true},
		{"/list/0/name", item.Field("name"), true},
		{"/metadata/finalizers/0", finalizers.SetItem("a"), true},
		{"/metadata/finalizers/a", finalizers.SetItem("a"), false},
	} {
		p, err := ParsePointer(tt.pointer)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.covers(tt.path, []any{live}); got != tt.want {
			t.Errorf("%s covers %s: %v", tt.pointer, tt.path, got)
		}
		if p.covers(tt.path, []any{live}) && !p.exists(live) {
			t.Errorf("%s covers %s and does not exist", tt.pointer, tt.path)
		}
	}
	if _, err := ParsePointer("data/a"); err == nil {
		t.Error("a pointer without a slash is no error")
	}
}

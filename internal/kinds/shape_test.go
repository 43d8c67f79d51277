package kinds

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestShapeOfNativeKinds checks the shapes at some places of a Deployment and a Service.
func TestShapeOfNativeKinds(t *testing.T) {
	deployment := Native().Shape(object.Ref{Key: object.Key{Group: "apps", Kind: "Deployment"}, Version: "v1"}.GVK())
	service := Native().Shape(object.Ref{Key: object.Key{Kind: "Service"}, Version: "v1"}.GVK())
	pod := object.Path{}.Field("spec").Field("template").Field("spec")
	container := pod.Field("containers").Index(0)
	for _, tt := range []struct {
		root *Shape
		path object.Path
		form Form
		list ListRule
	}{
		{deployment, object.Path{}.Field("metadata").Field("finalizers"), FormList, ListRule{Set: true}},
		{deployment, pod.Field("containers"), FormList, ListRule{Keys: []string{"name"}, MergeKey: "name"}},
		{deployment, container.Field("ports"), FormList, ListRule{Keys: []string{"containerPort", "protocol"}, MergeKey: "containerPort"}},
		{deployment, container.Field("args"), FormList, ListRule{}},
		{deployment, container.Field("resources").Field("limits"), FormMap, ListRule{}},
		{deployment, container.Field("resources").Field("limits").Field("cpu"), FormLeaf, ListRule{}},
		{service, object.Path{}.Field("spec").Field("ports"), FormList, ListRule{Keys: []string{"port", "protocol"}, MergeKey: "port"}},
	} {
		s := tt.root.Lookup(tt.path)
		if s == nil || s.Form != tt.form {
			t.Errorf("%s has the shape %+v", tt.path, s)
			continue
		}
		if diff := cmp.Diff(tt.list, s.ListRule()); diff != "" || s.Keyed() != (tt.list.Set || tt.list.Keys != nil) {
			t.Errorf("%s, keyed %t (-want +got):\n%s", tt.path, s.Keyed(), diff)
		}
	}
	podShape := deployment.Lookup(pod)
	if podShape.Field("typo") != nil || !podShape.Prunes("typo") || podShape.Prunes("hostNetwork") {
		t.Error("the server drops a field that the type does not have, and no other")
	}
	if !deployment.Lookup(container.Field("resources").Field("limits")).HasDefaults() || podShape.Field("nodeSelector").HasDefaults() {
		t.Error("of these maps, only the resource list has a rule")
	}
}

// TestStepTo checks how the items of a list are named.
func TestStepTo(t *testing.T) {
	keys := ListRule{Keys: []string{"name", "port"}}
	for _, tt := range []struct {
		item any
		rule ListRule
		want string
	}{
		{map[string]any{"name": "a", "port": int64(1), "x": "y"}, keys, "[name=a,port=1]"},
		{map[string]any{"name": "a"}, keys, ""},
		{map[string]any{"name": "a", "port": map[string]any{}}, keys, ""},
		{"a", keys, ""},
		{"a", ListRule{Set: true}, `["a"]`},
		{map[string]any{}, ListRule{Set: true}, ""},
		{map[string]any{"name": "a"}, ListRule{}, ""},
	} {
		step, ok := StepTo(tt.item, tt.rule)
		if got := (object.Path{step}).String(); ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%v is %s, %t, want %s", tt.item, got, ok, tt.want)
		}
	}
}

// TestHasHugeExponent checks which texts are not decoded as quantities.
func TestHasHugeExponent(t *testing.T) {
	for text, want := range map[string]bool{
		"1e1000": true, "1E+99999": true, "-1e-1000": true,
		"1e999": false, "1e3": false, "1Ei": false, "e1000": false, "name1000": false, "100": false,
	} {
		if HasHugeExponent(text) != want {
			t.Errorf("%s: %t", text, !want)
		}
		if _, ok := ParseQuantity(text); ok && want {
			t.Errorf("%s is a quantity", text)
		}
	}
}

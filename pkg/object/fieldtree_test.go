package object

import "testing"

func TestFieldTree(t *testing.T) {
	tree := &FieldTree[string]{}
	for _, path := range []string{
		"spec", "spec.ports[].nodePort", "spec.volumes[]", "spec.volumes/token-*", "spec.mounts//var/run",
		"labels/a.b/c", "labels/x.io/*", "finalizers/hold",
	} {
		tree.Set(path, path)
	}
	spec, item := Path{}.Field("spec"), []ListKey{{Name: "name", Value: "token-1"}}
	for _, tc := range []struct {
		path Path
		want string
	}{
		{nil, ""},
		{spec, "spec"},
		{spec.Field("ports"), ""},
		{spec.Field("ports").Index(0).Field("nodePort"), "spec.ports[].nodePort"},
		{spec.Field("ports").Field("nodePort"), ""},
		{spec.Field("volumes").Item(item), "spec.volumes[]"}, // any item comes before a prefix
		{spec.Field("mounts").Item([]ListKey{{Name: "mountPath", Value: "/var/run"}}), "spec.mounts//var/run"},
		{spec.Field("mounts").Item(item), ""},
		{Path{}.Field("labels").Field("a.b/c"), "labels/a.b/c"},
		{Path{}.Field("labels").Field("x.io/y"), "labels/x.io/*"},
		{Path{}.Field("labels").Field("x.io/y").Field("z"), ""},
		{Path{}.Field("finalizers").SetItem("hold"), "finalizers/hold"},
	} {
		if got := tree.At(tc.path).Value(); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.path, got, tc.want)
		}
	}
	tree.Set("spec", "again")
	if got := tree.At(TablePath("spec")).Value(); got != "again" {
		t.Errorf("spec is %q after it was set again", got)
	}
	if got, want := TablePath("metadata.labels/a.b/c"), (Path{}.Field("metadata").Field("labels").Field("a.b/c")); !got.Equal(want) {
		t.Errorf("path %s, want %s", got, want)
	}
}

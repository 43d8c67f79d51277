package owners

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestFields compares the sets of fields with the sets that the library decodes from the same texts: the managedFields of all cases,
// and some that no server would write.
func TestFields(t *testing.T) {
	texts := []string{
		`null`, `"text"`, `[]`, `{}`, `{".": {}}`, `{"f:a": {}}`, `{"f:a": null}`, `{"f:a": {".": {}}}`, `{"f:a": {".": {}, "f:b": {}}}`,
		`{"f:b": {}, "f:a": {"f:c": {}}}`,
		`{"k:{\"b\":1,\"a\":\"x\"}": {"f:a": {}}}`, `{"v:\"x\"": {}, "v:1": {}, "i:0": {}}`, `{"x:future": {"f:a": {}}}`,
		`{"f:a": {"x:future": {}}}`,
		`{"f:a": "text"}`, `{"k:broken": {}}`, `{"f:": {}}`, `{"": {}}`, `{"f:a.b/c": {}, "f:a": {}, "f:A": {}}`,
	}
	for _, text := range append(texts, fieldsOfCases(t)...) {
		want := &fieldpath.Set{}
		err := want.FromJSON(strings.NewReader(text))
		var fields any
		if err := json.Unmarshal([]byte(text), &fields); err != nil {
			t.Fatal(text, err)
		}
		got, gotErr := Fields(map[string]any{"fieldsV1": fields})
		if (gotErr == nil) != (err == nil) || err == nil && !got.Equals(want) {
			t.Errorf("%s: %v, %s; the library has %v, %s", text, gotErr, got, err, want)
		}
	}
}

// fieldsOfCases returns the fieldsV1 of all live objects in testdata/threeway.
func fieldsOfCases(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../testdata/threeway/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	var out []string
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		live := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "live.yaml" })
		if live < 0 {
			continue
		}
		for _, document := range regexp.MustCompile(`(?m)^---.*$`).Split(string(archive.Files[live].Data), -1) {
			var obj map[string]any
			if err := yaml.Unmarshal([]byte(document), &obj); err != nil {
				t.Fatal(file, err)
			}
			for _, raw := range RawEntries(obj) {
				text, err := json.Marshal(raw["fieldsV1"])
				if err != nil {
					t.Fatal(file, err)
				}
				out = append(out, string(text))
			}
		}
	}
	return out
}

func entry(manager, operation, version, minute, fields string) map[string]any {
	var decoded map[string]any
	if err := json.Unmarshal([]byte(fields), &decoded); err != nil {
		panic(err)
	}
	return map[string]any{
		"manager": manager, "operation": operation, "apiVersion": version, "fieldsV1": decoded, "time": "2026-11-20T10:" + minute + ":00Z",
	}
}

func liveWith(release string, entries ...any) map[string]any {
	return map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{object.ReleaseNameAnnotation: release}, "managedFields": entries,
	}}
}

const annotationField = `{"f:metadata": {"f:annotations": {"f:meta.helm.sh/release-name": {}}}}`

func noDeployer() Deployer { return Deployer{} }

// TestOwnersOf checks who owns a field, something below it, or the value around it, and the order of the owners.
func TestOwnersOf(t *testing.T) {
	o := New(liveWith("web",
		entry("a", "Update", "v1", "01", `{"f:spec": {"f:replicas": {}, "f:template": {".": {}, "f:x": {}}}}`),
		entry("b", "Apply", "v1", "02",
			`{"f:spec": {"f:template": {"f:x": {}}, "f:atomic": {}, "f:list": {"k:{\"name\":\"i\"}": {".": {}, "f:v": {}}}}}`),
		entry("c", "Update", "v1", "03", `{"f:metadata": {"f:finalizers": {"v:\"x\"": {}}}}`),
	), nil, "web", noDeployer)
	spec := object.Path{}.Field("spec")
	item := spec.Field("list").Item([]object.ListKey{{Name: "name", Value: "i"}})
	for _, tt := range []struct {
		path object.Path
		want string
	}{
		{spec.Field("replicas"), "a"},
		{spec.Field("template"), "b a"},
		{spec, "b a"},
		{spec.Field("atomic").Field("below"), "b"},
		{spec.Field("template").Field("other"), ""},
		{item, "b"},
		{item.Field("v"), "b"},
		{spec.Field("list").Item([]object.ListKey{{Name: "name", Value: "j"}}), ""},
		{object.Path{}.Field("metadata").Field("finalizers").SetItem("x"), "c"},
		{object.Path{}.Field("metadata").Field("finalizers").Index(0), "c"},
		{object.Path{}.Field("data"), ""},
	} {
		var names []string
		for _, owner := range o.OwnersOf(tt.path) {
			names = append(names, owner.Manager)
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s is owned by %q, want %q", tt.path, got, tt.want)
		}
	}
}

// TestIsDeployer checks which managers write the release itself.
func TestIsDeployer(t *testing.T) {
	mytool := entry("mytool", "Apply", "v1", "01", annotationField)
	person := entry("kubectl", "Update", "v1", "01", annotationField)
	known := func() Deployer { return Deployer{Manager: "mytool", Known: true} }
	bare := map[string]any{"metadata": map[string]any{"managedFields": []any{mytool}}}
	for name, c := range map[string]struct {
		live     map[string]any
		deployer func() Deployer
		manager  string
		want     bool
	}{
		"owns the annotation":                        {liveWith("web", mytool), noDeployer, "mytool", true},
		"owns the annotation of another release":     {liveWith("other", mytool), noDeployer, "mytool", false},
		"another manager":                            {liveWith("web", mytool), noDeployer, "yourtool", false},
		"a person owns the annotation":               {liveWith("web", person), noDeployer, "kubectl", false},
		"without annotation":                         {bare, noDeployer, "mytool", false},
		"without annotation, known by other objects": {bare, known, "mytool", true},
	} {
		o := New(c.live, nil, "web", c.deployer)
		owner := report.Owner{Manager: c.manager, Group: Managers(nil).groupOf(c.manager)}
		if got := o.IsDeployer(owner); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if !New(nil, nil, "web", noDeployer).IsDeployer(report.Owner{Manager: "helm", Group: report.ManagerDeployer}) {
		t.Error("a known deployer is one on every object")
	}
}

// TestIsRecorded checks that owners of a status alone do not count as a record.
func TestIsRecorded(t *testing.T) {
	status := entry("kubelet", "Update", "v1", "01", `{"f:status": {}}`)
	status["subresource"] = "status"
	for name, c := range map[string]struct {
		entries []any
		want    bool
	}{
		"nothing": {nil, false}, "a status": {[]any{status}, false}, "an empty entry": {[]any{map[string]any{}}, false},
		"a field": {[]any{status, entry("a", "Update", "v1", "01", `{"f:data": {}}`)}, true},
	} {
		if got := New(liveWith("web", c.entries...), nil, "web", noDeployer).IsRecorded(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestHasPerson checks that a person owns a field by a known tool, or by one that the configuration names.
func TestHasPerson(t *testing.T) {
	live := liveWith("web", entry("kubectl-edit", "Update", "v1", "01", `{"f:a": {}}`), entry("console", "Update", "v1", "01", `{"f:b": {}}`))
	a, b := object.Path{}.Field("a"), object.Path{}.Field("b")
	if o := New(live, nil, "web", noDeployer); !o.HasPerson(a) || o.HasPerson(b) {
		t.Error("only kubectl-edit is known")
	}
	if o := New(live, Managers{report.ManagerPerson: {"console"}}, "web", noDeployer); !o.HasPerson(a) || !o.HasPerson(b) {
		t.Error("the configuration adds a tool")
	}
}

// TestAutoscalerMoves checks that a manager that wrote the metrics of an autoscaler at one version owns them where the other
// version has them.
func TestAutoscalerMoves(t *testing.T) {
	live := liveWith("web", entry("a", "Update", "autoscaling/v2", "01", `{"f:spec": {"f:metrics": {}}}`))
	live["apiVersion"], live["kind"] = "autoscaling/v1", "HorizontalPodAutoscaler"
	target := object.Path{}.Field("spec").Field("targetCPUUtilizationPercentage")
	if got := New(live, nil, "web", noDeployer).OwnersOf(target); len(got) != 1 || got[0].Manager != "a" {
		t.Errorf("at version 1: %v", got)
	}
	live["kind"] = "Other"
	if got := New(live, nil, "web", noDeployer).OwnersOf(target); len(got) != 0 {
		t.Errorf("of another kind: %v", got)
	}
}

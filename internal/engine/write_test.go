package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestPatches has the patch that Helm sends from old to desired, and what it makes of live. The strategic engine looks at live, and the
// merge engine does not: so Helm puts an edit of a native kind back, and one of a custom resource only if the chart changes the field too.
func TestPatches(t *testing.T) {
	for _, tt := range []struct {
		name, kind         string
		writer             Writer
		engine             report.Engine
		old, desired, live string
		sends, result      string
	}{
		{
			"an edit is put back", "ConfigMap", Writer{}, report.EngineStrategic,
			`data: {a: "1"}`, `data: {a: "1"}`, `data: {a: "7"}`,
			`{"data":{"a":"1"}}`, `{"data":{"a":"1"}}`,
		},
		{
			"a key that no manifest names stays", "ConfigMap", Writer{}, report.EngineStrategic,
			`data: {a: "1"}`, `data: {a: "1"}`, `data: {a: "1", b: "1"}`,
			`{}`, `{"data":{"a":"1","b":"1"}}`,
		},
		{
			"a key that the chart drops goes, although somebody edited it", "ConfigMap", Writer{}, report.EngineStrategic,
			`data: {a: "1", b: "1"}`, `data: {a: "1"}`, `data: {a: "1", b: "7"}`,
			`{"data":{"b":null}}`, `{"data":{"a":"1"}}`,
		},
		{
			"an item of a list with a merge key is found by its key", "ServiceAccount", Writer{}, report.EngineStrategic,
			`secrets: [{name: a}]`, `secrets: [{name: a}, {name: b}]`, `secrets: [{name: by-hand}, {name: a}]`,
			`{"$setElementOrder/secrets":[{"name":"a"},{"name":"b"}],"secrets":[{"name":"b"}]}`,
			`{"secrets":[{"name":"by-hand"},{"name":"a"},{"name":"b"}]}`,
		},
		{
			"a list without a merge key is written whole", "Role", Writer{}, report.EngineStrategic,
			`rules: [{verbs: [get]}]`, `rules: [{verbs: [get]}]`, `rules: [{verbs: [get]}, {verbs: [list]}]`,
			`{"rules":[{"verbs":["get"]}]}`, `{"rules":[{"verbs":["get"]}]}`,
		},
		{
			"an edit of a custom resource is not put back", "Widget", Writer{}, report.EngineMerge,
			`spec: {a: "1", b: "1"}`, `spec: {a: "1", b: "2"}`, `spec: {a: "7", b: "1"}`,
			`{"spec":{"b":"2"}}`, `{"spec":{"a":"7","b":"2"}}`,
		},
		{
			"a list of a custom resource is written whole if the chart changes it", "Widget", Writer{}, report.EngineMerge,
			`spec: {list: [{name: a}]}`, `spec: {list: [{name: b}]}`, `spec: {list: [{name: a}, {name: by-hand}]}`,
			`{"spec":{"list":[{"name":"b"}]}}`, `{"spec":{"list":[{"name":"b"}]}}`,
		},
		{
			"with --take-ownership, an edit of a custom resource is put back", "Widget", Writer{ThreeWayMerge: true}, report.EngineMerge,
			`spec: {a: "1"}`, `spec: {a: "1"}`, `spec: {a: "7"}`,
			`{"spec":{"a":"1"}}`, `{"spec":{"a":"1"}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ref := refOf(tt.kind)
			old, desired, live := parse(t, ref, tt.old), parse(t, ref, tt.desired), parse(t, ref, tt.live)
			_, sends, err := tt.writer.Patch(ref, old, desired, live)
			if err != nil || string(sends) != tt.sends {
				t.Errorf("sends %s, want %s: %v", sends, tt.sends, err)
			}
			checkWritten(t, tt.writer, ref, old, desired, live, tt.engine, tt.result)
		})
	}
}

// TestReplacement checks helm upgrade --force: the object becomes desired, and what only live has goes. Old plays no part.
func TestReplacement(t *testing.T) {
	for _, tt := range []struct{ kind, old, desired, live, result string }{
		{"ConfigMap", `data: {a: "1"}`, `data: {a: "2"}`, `data: {a: "7", b: "1"}`, `{"data":{"a":"2"}}`},
		{"ConfigMap", `data: {a: "1"}`, `data: {}`, `data: {a: "1"}`, `{"data":{}}`},
		{"Widget", `spec: {a: "1"}`, `spec: {a: "1"}`, `spec: {a: "7"}`, `{"spec":{"a":"1"}}`},
	} {
		ref := refOf(tt.kind)
		old, desired, live := parse(t, ref, tt.old), parse(t, ref, tt.desired), parse(t, ref, tt.live)
		checkWritten(t, Writer{ForceReplace: true}, ref, old, desired, live, report.EngineReplace, tt.result)
	}
}

// TestApply has server-side applies of the data of a ConfigMap by Helm. Whoever owns a key is in managedFields: the owners are written as
// "manager: keys". An apply looks at them and not at old. It fails on a key with another value that somebody else owns, and then the result
// is what --force-conflicts would make of it.
func TestApply(t *testing.T) {
	for _, tt := range []struct {
		name                    string
		force                   bool
		desired, live           string
		owners                  []string
		result, conflict, fails string
	}{
		{
			name: "a key that Helm owns is written", desired: `data: {a: "2"}`, live: `data: {a: "1"}`, owners: []string{"helm: a"},
			result: `{"data":{"a":"2"}}`,
		},
		{
			name: "a key that somebody else owns is a conflict", desired: `data: {a: "2"}`, live: `data: {a: "7"}`,
			owners: []string{"kubectl-edit: a"}, result: `{"data":{"a":"2"}}`,
			conflict: `.data.a: conflict with "kubectl-edit" using v1`,
			fails:    `Apply failed with 1 conflict: conflict with "kubectl-edit" using v1: .data.a`,
		},
		{
			name: "with --force-conflicts it is written", force: true, desired: `data: {a: "2"}`, live: `data: {a: "7"}`,
			owners: []string{"kubectl-edit: a"}, result: `{"data":{"a":"2"}}`,
		},
		{
			name: "the same value is no conflict", desired: `data: {a: "2"}`, live: `data: {a: "2"}`, owners: []string{"kubectl-edit: a"},
			result: `{"data":{"a":"2"}}`,
		},
		{
			name: "a dropped key goes if Helm is its only owner", desired: `data: {a: "1"}`, live: `data: {a: "1", b: "1"}`,
			owners: []string{"helm: a b"}, result: `{"data":{"a":"1"}}`,
		},
		{
			name: "a dropped key stays if it has another owner", desired: `data: {a: "1"}`, live: `data: {a: "1", b: "1"}`,
			owners: []string{"helm: a b", "other: b"}, result: `{"data":{"a":"1","b":"1"}}`,
		},
		{
			name: "a key that Helm never owned stays", desired: `data: {a: "1"}`, live: `data: {a: "1", b: "7"}`,
			owners: []string{"helm: a", "kubectl-edit: b"}, result: `{"data":{"a":"1","b":"7"}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ref := refOf("ConfigMap")
			live := parse(t, ref, tt.live)
			object.Child(live, "metadata")["managedFields"] = managedFields(tt.owners)
			deployer := func() owners.Deployer { return owners.Deployer{Manager: "helm", Known: true} }
			w := Writer{ServerSide: true, ForceConflicts: tt.force, Deployer: deployer}
			got := checkWritten(t, w, ref, nil, parse(t, ref, tt.desired), live, report.EngineApply, tt.result)
			var conflict string
			for _, c := range got.Conflicts {
				conflict += c.Field + ": " + c.Message
			}
			if conflict != tt.conflict || got.Refusal != tt.fails {
				t.Errorf("conflict %q and refusal %q, want %q and %q", conflict, got.Refusal, tt.conflict, tt.fails)
			}
		})
	}
}

// checkWritten predicts a write, and compares the engine and the result without its identity.
func checkWritten(t *testing.T, w Writer, ref object.Ref, old, desired, live map[string]any, engine report.Engine, result string) Written {
	t.Helper()
	got, err := w.Write(ref, old, desired, live)
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]any{}
	for name, value := range got.Result {
		if name != "apiVersion" && name != "kind" && name != "metadata" {
			content[name] = value
		}
	}
	text, err := json.Marshal(content)
	if err != nil || got.Engine != engine || string(text) != result {
		t.Errorf("%s makes %s, want %s making %s: %v", got.Engine, text, engine, result, err)
	}
	return got
}

// refOf names an object of a kind.
func refOf(kind string) object.Ref {
	ref := object.Ref{Key: object.Key{Kind: kind, Namespace: "d", Name: "x"}, Version: "v1"}
	ref.Group = map[string]string{"Role": "rbac.authorization.k8s.io", "Widget": "example.com"}[kind]
	return ref
}

// parse returns an object with some content.
func parse(t *testing.T, ref object.Ref, content string) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := yaml.Unmarshal([]byte(content), &out); err != nil {
		t.Fatal(err)
	}
	out["apiVersion"], out["kind"] = ref.APIVersion(), ref.Kind
	out["metadata"] = map[string]any{"name": ref.Name, "namespace": ref.Namespace}
	return out
}

// managedFields returns the entries of managers that own keys of the data. Helm has applied them, and the others have updated them.
func managedFields(owners []string) []any {
	var out []any
	for _, owner := range owners {
		manager, keys, _ := strings.Cut(owner, ": ")
		operation, fields := "Update", map[string]any{}
		if manager == "helm" {
			operation = "Apply"
		}
		for key := range strings.FieldsSeq(keys) {
			fields["f:"+key] = map[string]any{}
		}
		out = append(out, map[string]any{
			"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:data": fields},
		})
	}
	return out
}

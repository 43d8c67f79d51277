package verdict

import (
	"fmt"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestTable has a line for each row of the table in the package comment. Every line is about one key of a ConfigMap, which kubectl-edit
// wrote last. The result is live after the patch that Helm sends for these values; it is written out, because the verdict follows it. An
// empty want is no finding. A want without "uncertain" is certain, and one without "unmanaged" is about a field that a manifest names.
func TestTable(t *testing.T) {
	for _, tt := range []struct{ old, desired, live, result, want string }{
		{"z", "x", "x", "x", ""},
		{"-", "x", "x", "x", ""},
		{"-", "x", "-", "x", "add, change"},
		{"-", "x", "y", "x", "add, both"},
		{"x", "x", "-", "x", "add, drift"},
		{"z", "x", "-", "x", "add, both"},
		{"x", "x", "y", "x", "overwrite, drift"},
		{"z", "x", "z", "x", "overwrite, change"},
		{"z", "x", "y", "x", "overwrite, both"},
		{"z", "-", "z", "-", "remove, change"},
		{"z", "-", "y", "-", "remove, both"},
		{"z", "-", "-", "-", ""},
		{"-", "-", "y", "y", "ignore, drift, unmanaged"},
	} {
		p := place{engine: report.EngineStrategic, old: tt.old, desired: tt.desired, live: tt.live, result: tt.result, writer: "kubectl-edit"}
		if got := p.verdict(t); got != tt.want {
			t.Errorf("old %s, desired %s, live %s, result %s: got %q, want %q", tt.old, tt.desired, tt.live, tt.result, got, tt.want)
		}
	}
}

// TestPatchWins has the places where Helm's patch does something else than the table says. The patch decides the verdict, the table
// still names the cause, and the note says why. "leaves" is the value after the patch if it is not the desired one.
func TestPatchWins(t *testing.T) {
	for _, tt := range []struct {
		engine                     report.Engine
		old, desired, live, result string
		want, note                 string
	}{
		// The patch changes nothing, so the verdict is ignore.
		{report.EngineStrategic, "x", "x", "y", "y", "ignore, drift", "its patch does not reach this field"},
		{report.EngineStrategic, "z", "x", "z", "z", "ignore, change", "this change will not happen: live keeps the value"},
		{report.EngineMerge, "x", "x", "y", "y", "ignore, drift", "it does not look at live custom resources"},
		{report.EngineApply, "z", "-", "z", "z", "ignore, change", "Helm is not its only owner, so it stays"},
		// The patch takes away what no manifest names.
		{report.EngineStrategic, "-", "-", "y", "-", "remove, drift, unmanaged", "Helm's patch keeps here only what the manifest names"},
		{report.EngineMerge, "-", "-", "y", "-", "remove, drift, unmanaged", "Helm's patch writes the whole list that holds it"},
		{report.EngineApply, "-", "-", "y", "-", "remove, drift, unmanaged", "Helm's apply owns it or what holds it"},
		{report.EngineReplace, "-", "-", "y", "-", "remove, drift, unmanaged", "--force replaces the object"},
		// The patch leaves another value than the desired one.
		{report.EngineStrategic, "x", "x", "y", "w", "overwrite, drift, leaves w", "it tells items of a list apart by fewer keys"},
		{report.EngineStrategic, "z", "x", "z", "-", "remove, change", "it tells items of a list apart by fewer keys"},
		{report.EngineStrategic, "z", "-", "z", "w", "remove, change, leaves w", ""},
		// A null of the manifest is a removal.
		{report.EngineStrategic, "z", "null", "z", "-", "remove, change", "the manifest sets it to null, which Helm's patch sends as a removal"},
		{report.EngineApply, "z", "null", "z", "-", "remove, change", "the manifest sets it to null, and so does Helm's apply"},
	} {
		p := place{engine: tt.engine, old: tt.old, desired: tt.desired, live: tt.live, result: tt.result, writer: "kubectl-edit"}
		got, note, _ := strings.Cut(p.verdict(t), ": ")
		if got != tt.want || !strings.Contains(note, tt.note) || (tt.note == "") != (note == "") {
			t.Errorf("%s: old %s, desired %s, live %s, result %s: got %q with note %q, want %q with %q",
				tt.engine, tt.old, tt.desired, tt.live, tt.result, got, note, tt.want, tt.note)
		}
	}
}

// TestConflict checks that the verdict becomes conflict if an apply fails on the place, and that the cause stays that of the table.
func TestConflict(t *testing.T) {
	for _, tt := range []struct{ old, desired, live, want string }{
		{"x", "x", "y", "conflict, drift: owned by other"},
		{"z", "x", "z", "conflict, change: owned by other"},
		{"z", "x", "y", "conflict, both: owned by other"},
	} {
		p := place{
			engine: report.EngineApply, old: tt.old, desired: tt.desired, live: tt.live, result: tt.desired, writer: "other",
			conflicts: []engine.Conflict{{Field: ".data.key", Message: "owned by other"}},
		}
		if got := p.verdict(t); got != tt.want {
			t.Errorf("old %s, desired %s, live %s: got %q, want %q", tt.old, tt.desired, tt.live, got, tt.want)
		}
	}
}

// TestUnmanaged checks the last row of the table with different writers: a value that no manifest names is a finding only if somebody
// other than the deployer wrote it.
func TestUnmanaged(t *testing.T) {
	for writer, want := range map[string]string{
		"kubectl-edit":    "ignore, drift, unmanaged", // a person
		"some-controller": "ignore, drift, unmanaged",
		"helm":            "",                         // a default that the release's own write caused
		"nobody":          "",                         // the object has managedFields, and none of them names the field: the server allocated it
		"":                "ignore, drift, unmanaged", // the object has no managedFields, so nothing shows that it is no edit
	} {
		p := place{engine: report.EngineStrategic, old: "-", desired: "-", live: "y", result: "y", writer: writer}
		if got := p.verdict(t); got != want {
			t.Errorf("written by %q: got %q, want %q", writer, got, want)
		}
	}
}

// TestVolatile checks a value that differs in a second rendering: it has a class, and it counts as drift only if live differs from old.
func TestVolatile(t *testing.T) {
	for _, tt := range []struct{ old, desired, again, live, want string }{
		{"z", "x", "x", "z", "overwrite, change"},
		{"z", "x", "w", "z", "overwrite, change, volatile"},
		{"z", "x", "w", "y", "overwrite, both, volatile"},
	} {
		p := place{
			engine: report.EngineStrategic, old: tt.old, desired: tt.desired, again: tt.again, live: tt.live, result: tt.desired,
			writer: "kubectl-edit",
		}
		if got := p.verdict(t); got != tt.want {
			t.Errorf("old %s, renderings %s and %s, live %s: got %q, want %q", tt.old, tt.desired, tt.again, tt.live, got, tt.want)
		}
	}
}

// place is the states of one key of an object: a custom resource for the merge engine, and otherwise a ConfigMap. Writer is the
// manager that owns the key in live: "nobody" if managedFields has no entry for it, and "" if there are no managedFields.
type place struct {
	engine                            report.Engine
	old, desired, again, live, result string
	writer                            string
	conflicts                         []engine.Conflict
}

// verdict returns what a Walker finds at the place; empty if that is nothing.
func (p place) verdict(t *testing.T) string {
	t.Helper()
	ref := object.Ref{Key: object.Key{Kind: "ConfigMap", Namespace: "d", Name: "c"}, Version: "v1"}
	if p.engine == report.EngineMerge {
		ref.Group, ref.Kind = "example.com", "Widget"
	}
	shape, live := kinds.ShapeOf(ref, nil, false), p.text(ref, p.live)
	form := kinds.NewNormalizer(ref.Key, shape, live)
	states := States{
		Old: form.Manifest(p.text(ref, p.old)), Desired: form.Manifest(p.text(ref, p.desired)),
		Live: form.Stored(live), Result: form.Stored(p.text(ref, p.result)),
		StoresNulls: p.engine == report.EngineApply || p.engine == report.EngineReplace,
	}
	states.Again, states.AtOnce = states.Desired, states.Desired
	if p.again != "" {
		states.Again = form.Manifest(p.text(ref, p.again))
		states.AtOnce = states.Again
	}
	w := Walker{Operation: report.OperationUpgrade, Release: "r", Deployer: func() owners.Deployer { return owners.Deployer{} }}
	found := w.Compare(Object{
		Key: ref.Key, Shape: shape, Engine: p.engine, Text: live, States: states, Conflicts: p.conflicts, Volatile: p.again != "",
	})
	if len(found) > 1 {
		t.Fatalf("%d findings about one key: %v", len(found), found)
	}
	if len(found) == 0 {
		return ""
	}
	if path := found[0].Path.String(); path != "data.key" {
		t.Errorf("the finding is about %s", path)
	}
	return describe(found[0])
}

// text returns an object that has the value at the key: "-" is an absent key, and "null" is a null. A second key is the same in all states,
// so that the map is never absent as a whole.
func (p place) text(ref object.Ref, value string) map[string]any {
	data := map[string]any{"same": "s", "key": value}
	switch value {
	case "-":
		delete(data, "key")
	case "null":
		data["key"] = nil
	}
	meta := map[string]any{"name": ref.Name, "namespace": ref.Namespace}
	fields := map[string]any{"f:key": map[string]any{}}
	if p.writer == "nobody" {
		fields = map[string]any{"f:same": map[string]any{}}
	}
	if p.writer != "" {
		meta["managedFields"] = []any{map[string]any{
			"manager": p.writer, "operation": "Update", "apiVersion": ref.APIVersion(), "fieldsType": "FieldsV1",
			"fieldsV1": map[string]any{"f:data": fields},
		}}
	}
	return map[string]any{"apiVersion": ref.APIVersion(), "kind": ref.Kind, "metadata": meta, "data": data}
}

// describe returns the verdict and the cause of a finding, and what is special about it.
func describe(f Finding) string {
	out := fmt.Sprintf("%s, %s", f.Verdict, f.Cause)
	if !f.Managed {
		out += ", unmanaged"
	}
	if !f.Certain {
		out += ", uncertain"
	}
	if f.Class != "" {
		out += ", " + string(f.Class)
	}
	if f.After != nil {
		out += fmt.Sprintf(", leaves %v", f.After)
	}
	if len(f.Notes) > 0 {
		out += ": " + f.Notes.String()
	}
	return out
}

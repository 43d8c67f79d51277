package threeway

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// fieldsOf writes a value as managedFields do. It stops at lists; a list stands for everything in it.
func fieldsOf(v any) map[string]any {
	out := map[string]any{}
	m, _ := v.(map[string]any)
	for name, below := range m {
		out["f:"+name] = fieldsOf(below)
	}
	return out
}

// owning returns a copy of an object with other managedFields. Nil removes them.
func owning(live map[string]any, entries ...any) map[string]any {
	out := maps.Clone(live)
	out["metadata"] = maps.Clone(object.Child(live, "metadata"))
	if delete(object.Child(out, "metadata"), "managedFields"); len(entries) > 0 {
		object.Child(out, "metadata")["managedFields"] = entries
	}
	return out
}

func entryOf(manager, version string, fields map[string]any) map[string]any {
	return map[string]any{"manager": manager, "operation": "Update", "apiVersion": version, "time": "2020-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": fields}
}

// ownerships returns states of managedFields that real clusters have for an object that Helm wrote.
func ownerships(live map[string]any) map[string]map[string]any {
	all := fieldsOf(live)
	version, _ := live["apiVersion"].(string)
	many := []any{entryOf("ancient-changes", version, all)}
	for i := range 10 {
		many = append(many, entryOf(fmt.Sprint("program-", i), version, map[string]any{"f:metadata": map[string]any{"f:labels": map[string]any{}}}))
	}
	return map[string]map[string]any{
		"stripped": owning(live),
		"emptied":  owning(live, map[string]any{}),
		"only a status is signed": owning(live, func() any {
			e := entryOf("kubelet", version, map[string]any{"f:status": map[string]any{}})
			e["subresource"] = "status"
			return e
		}()),
		"Helm's":                   owning(live, entryOf("helm", version, all)),
		"at an older version":      owning(live, entryOf("helm", "extensions/v1beta1", all)),
		"forgotten":                owning(live, entryOf("ancient-changes", version, all)),
		"before the first apply":   owning(live, entryOf("before-first-apply", version, all), entryOf("helm", version, map[string]any{"f:metadata": map[string]any{"f:labels": map[string]any{}}})),
		"begun after the object":   owning(live, entryOf("program", version, map[string]any{"f:metadata": map[string]any{"f:labels": map[string]any{}}})),
		"of ten and more managers": owning(live, many...),
	}
}

// TestArbitraryManagedFields: an untouched object of a native kind is silent whatever its managedFields are, and drift of fields in
// its manifest is reported whatever they are.
func TestArbitraryManagedFields(t *testing.T) {
	drifted := 0
	for _, o := range samples(t) {
		if mangled(o.Content) || kinds.Native().Shape(o.GVK()) == nil {
			continue
		}
		rng := o.random(7)
		installed := o.installed()
		for name, live := range ownerships(installed) {
			if c := Compare(o.input(o.Object, live)); !c.Quiet() {
				t.Errorf("%s, managedFields %s: %s", o.Source, name, describe(c))
			}
		}
		edited, _ := object.Copy(installed).(map[string]any)
		o.edit(rng, edited)
		edited = o.served(edited)
		var first, firstName string
		variants := ownerships(edited)
		for _, name := range object.SortedKeys(variants) {
			got := managedDrift(Compare(o.input(o.Object, variants[name])))
			if firstName == "" {
				first, firstName = got, name
			}
			if got != first {
				t.Errorf("%s, managedFields %s:\n%s\nmanagedFields %s:\n%s", o.Source, firstName, first, name, got)
			}
		}
		if first != "" {
			drifted++
		}
	}
	if drifted < 50 {
		t.Errorf("only %d objects drifted", drifted)
	}
}

// managedDrift lists what drifted of what a manifest names, without its owners.
func managedDrift(c *Comparison) string {
	var out []string
	for _, f := range c.Objects[0].Findings {
		if f.Managed {
			out = append(out, fmt.Sprint(f.Path, " ", f.Verdict, "/", f.Cause, " ", f.Old, " ", f.Live))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

package engine

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Most applies change nothing. appliesNothing recognizes them by the first steps of the API server's own field manager, and leaves out the
// others, which cost most (structured-merge-diff v6.4.2 merge/update.go Apply):
//
//	merge      live merged with desired must be live
//	prune      removes what the deployer owned and does not apply again; it must own exactly what it applies
//	compare    finds conflicts and new owners in what differs from live, which is nothing
//
// Before that the field manager converts live to the versions at which managers wrote, and adapts what they own to a changed schema. So
// everybody must have written at the version of the apply, and what they own must fit the schema.

// appliesNothing reports whether an apply of desired leaves live as it is, without a conflict. It returns false if that is not certain.
func (t versionedTypes) appliesNothing(deployer string, desired, live map[string]any) (certain bool) {
	defer func() {
		if recover() != nil {
			certain = false
		}
	}()
	meta := object.Child(desired, "metadata")
	if object.Has(desired, "status") || object.Has(meta, "managedFields") || !holdsTexts(live, desired) ||
		deployer == "kubectl" { // whose annotation the field manager looks at
		return false
	}
	sets, owned, ok := setsOf(live, deployer, t.gvk.GroupVersion().String())
	if !ok {
		return false
	}
	is, err := t.TypeConverter.ObjectToTyped(&unstructured.Unstructured{Object: withoutManagedFields(live)})
	if err != nil {
		return false
	}
	applied, err := t.TypeConverter.ObjectToTyped(&unstructured.Unstructured{Object: desired})
	if err != nil {
		return false
	}
	for _, set := range sets {
		if changed, err := typed.ReconcileFieldSetWithSchema(set, is); changed != nil || err != nil {
			return false
		}
	}
	merged, err := is.Merge(applied)
	if err != nil || !value.Equals(merged.AsValue(), is.AsValue()) {
		return false
	}
	set, err := applied.ToFieldSet()
	return err == nil && set.Difference(unownedFields()).Equals(owned)
}

// holdsTexts reports whether live has all that desired has, in the same words and in lists of the same length. Otherwise an apply most
// likely changes something, and the more expensive steps are left to it.
func holdsTexts(live, desired any) bool {
	switch desired := desired.(type) {
	case map[string]any:
		was, isMap := live.(map[string]any)
		for name, below := range desired {
			if v, has := was[name]; !has || !holdsTexts(v, below) {
				return false
			}
		}
		return isMap
	case []any:
		was, isList := live.([]any)
		return isList && slices.EqualFunc(was, desired, holdsTexts)
	}
	return live == desired
}

// setsOf returns what managers own of live, and which of that the deployer applied. Ok is set if everybody wrote at the version.
func setsOf(live map[string]any, deployer, version string) (all []*fieldpath.Set, applied *fieldpath.Set, ok bool) {
	for _, raw := range owners.RawEntries(live) {
		if raw["apiVersion"] != version || !isWellFormed(raw) {
			return nil, nil, false
		}
		set, err := owners.Fields(raw)
		if err != nil {
			return nil, nil, false
		}
		all = append(all, set)
		if raw["manager"] == deployer && raw["operation"] == "Apply" && raw["subresource"] == nil {
			if applied != nil {
				return nil, nil, false
			}
			applied = set
		}
	}
	return all, applied, applied != nil && !applied.Empty()
}

// isWellFormed reports whether an entry of managedFields is one that the API server decodes.
func isWellFormed(raw map[string]any) bool {
	for name, v := range raw {
		text, isText := v.(string)
		switch name {
		case "manager", "apiVersion", "subresource":
			if !isText || text == "" {
				return false
			}
		case "operation":
			if text != "Apply" && text != "Update" {
				return false
			}
		case "fieldsType":
			if text != "FieldsV1" {
				return false
			}
		case "time":
			if _, err := time.Parse(time.RFC3339, text); err != nil {
				return false
			}
		case "fieldsV1":
			if fields, isMap := v.(map[string]any); !isMap || len(fields) == 0 {
				return false
			}
		default:
			return false
		}
	}
	return !slices.ContainsFunc([]string{"manager", "operation", "fieldsType", "fieldsV1"}, func(name string) bool { return raw[name] == nil })
}

// unownedFields are the fields that nobody owns, though an apply has them (apimachinery v0.37.1
// pkg/util/managedfields/internal/stripmeta.go).
var unownedFields = sync.OnceValue(func() *fieldpath.Set {
	set := fieldpath.NewSet(fieldpath.MakePathOrDie("apiVersion"), fieldpath.MakePathOrDie("kind"), fieldpath.MakePathOrDie("metadata"))
	for _, name := range []string{
		"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields", "resourceVersion",
	} {
		set.Insert(fieldpath.MakePathOrDie("metadata", name))
	}
	return set
})

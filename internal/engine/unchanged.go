package engine

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Most objects of a release are as Helm left them, and its patch changes nothing in their normal form. The functions of this file
// recognize that from the texts, without the patch. They return true only if it is certain: they leave cases that depend on the order or
// on directives to the patch libraries.

// withoutPatch returns live after Helm's patch, if that is certain without the patch: live itself, or live with the lists that a strategic
// patch replaces as a whole. Such lists differ as texts if the server has filled in defaults. It does not change live.
func (p clientSide) withoutPatch(old, desired, live map[string]any, s *kinds.Shape) (result map[string]any, certain bool) {
	switch {
	case p.threeWay:
		return nil, false
	case p.Engine != report.EngineStrategic:
		return live, mergesNothing(old, desired, live)
	case !dropsNothing(old, desired):
		return nil, false
	}
	var h holder
	if !h.holdsFields(live, withoutIdentity(desired), s, false) {
		return nil, false
	}
	for _, path := range h.replaced {
		live = withField(live, path, desired)
	}
	return live, true
}

// withField returns an object with the value that from has at a path of fields. It shares everything else with obj.
func withField(obj map[string]any, path []string, from map[string]any) map[string]any {
	out, name := maps.Clone(obj), path[0]
	if len(path) == 1 {
		out[name] = from[name]
	} else {
		out[name] = withField(object.Child(obj, name), path[1:], object.Child(from, name))
	}
	return out
}

// dropsNothing reports whether desired has all that old has. Helm's own labels and annotations may be new in desired, or have another
// value.
func dropsNothing(old, desired map[string]any) bool {
	for name, was := range old {
		is, has := desired[name]
		before, isMap := was.(map[string]any)
		after, _ := is.(map[string]any)
		switch {
		case !has:
			return false
		case isMap && name == "metadata":
			if !dropsNoMetadata(before, after) {
				return false
			}
		case !object.Identical(was, is):
			return false
		}
	}
	return true
}

func dropsNoMetadata(old, desired map[string]any) bool {
	for name, was := range old {
		if name != "labels" && name != "annotations" {
			if !object.Identical(was, desired[name]) {
				return false
			}
			continue
		}
		for key := range object.Child(old, name) {
			if !object.Has(desired[name], key) {
				return false
			}
		}
	}
	return true
}

// withoutIdentity returns a text without the scalars of its metadata, such as its name and a creationTimestamp that is null, because no
// normal form has them. It keeps those that the API server refuses to change.
func withoutIdentity(text map[string]any) map[string]any {
	out, meta := maps.Clone(text), maps.Clone(object.Child(text, "metadata"))
	maps.DeleteFunc(meta, func(name string, v any) bool {
		return (v == nil || object.IsScalar(v) && !apiserver.IsFixedMetadata(name)) && !kinds.IsComparedMetadata(name)
	})
	if meta != nil {
		out["metadata"] = meta
	}
	return out
}

// holder compares live with desired.
type holder struct {
	// path has the fields from the object to the present value. InItem is set within the items of a list, where a path cannot name a field.
	path   []string
	inItem bool
	// replaced are the paths of the lists that the patch replaces.
	replaced [][]string
}

// holdsFields reports whether live has every field of desired with the same value, except for values that the server would leave out, and
// for lists that it adds to h. A strategic patch then changes nothing in the normal form but these lists. RetainsKeys is set if the patch
// removes the other fields of live.
func (h *holder) holdsFields(live, desired map[string]any, s *kinds.Shape, retainsKeys bool) bool {
	if retainsKeys && !retainsAll(live, desired, s) {
		return false
	}
	for name, is := range desired {
		was, has := live[name]
		switch {
		case strings.HasPrefix(name, "$"):
			return false
		case !has && !(is == nil || s.Omits(name, is)):
			return false
		case has:
			h.path = append(h.path, name)
			if !h.holds(was, is, s, name) {
				return false
			}
			h.path = h.path[:len(h.path)-1]
		}
	}
	return true
}

// retainsAll reports whether the server sets again all fields of live that desired lacks, if a patch removes them.
func retainsAll(live, desired map[string]any, s *kinds.Shape) bool {
	kept := maps.Clone(live)
	maps.DeleteFunc(kept, func(name string, _ any) bool { return desired[name] == nil })
	return len(kept) == len(live) || object.Equal(s.Defaulted(live), s.Defaulted(kept))
}

// holds is holdsFields for one field that live has.
func (h *holder) holds(was, is any, s *kinds.Shape, name string) bool {
	rule, known := s.PatchRule(name)
	switch is := is.(type) {
	case nil:
		return false
	case map[string]any:
		below, isMap := was.(map[string]any)
		if !known || rule.Replaces { // the patch library compares what is in a map as a whole
			return (known || s.IsMap()) && object.Identical(was, is)
		}
		return isMap && h.holdsFields(below, is, s.Field(name), rule.RetainsKeys)
	case []any:
		list, isList := was.([]any)
		if !known {
			return s.IsMap() && object.Identical(was, is)
		}
		return isList && h.holdsList(list, is, s.Field(name), rule.RetainsKeys)
	}
	return was == is || s.Field(name).SameLeaf(was, is)
}

// holdsList is holdsFields for a list. A list that is merged must have the same items in the same order.
func (h *holder) holdsList(live, desired []any, s *kinds.Shape, retainsKeys bool) bool {
	key := s.ListRule().MergeKey
	switch {
	case !s.Keyed():
		return object.Identical(live, desired) || h.replaces(desired)
	case len(live) != len(desired):
		return false
	case key == "": // the patch has the order of a set, unless it is sorted
		return len(live) == 0 || len(live) == 1 && object.IsScalar(live[0]) && live[0] == desired[0]
	}
	outside := h.inItem
	h.inItem = true
	for i := range desired {
		was, isMap := live[i].(map[string]any)
		is, alsoMap := desired[i].(map[string]any)
		if !isMap || !alsoMap || !isFirst(desired[:i+1], key) || !h.holdsFields(was, is, s.Item(), retainsKeys) {
			return false
		}
	}
	h.inItem = outside
	return true
}

// replaces adds the present list to those that the patch replaces with desired's. It returns false if the patch may make something else
// of the list.
func (h *holder) replaces(desired []any) bool {
	if h.inItem || !isPlain(desired) {
		return false
	}
	h.replaced = append(h.replaced, slices.Clone(h.path))
	return true
}

// isPlain reports whether a patch leaves a value as it is: the value has no nulls and directives, and no fractions, which JSON may spell as
// integers.
func isPlain(v any) bool {
	switch v := v.(type) {
	case nil, float64:
		return false
	case map[string]any:
		for name, below := range v {
			if strings.HasPrefix(name, "$") || !isPlain(below) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !isPlain(item) })
	}
	return true
}

// isFirst reports whether the last of the items has a merge key, and no earlier item has the same key. All keys must be texts, or all
// integers.
func isFirst(items []any, key string) bool {
	name := object.Field(items[len(items)-1], key)
	_, isText := name.(string)
	if _, isInteger := name.(int64); !isText && !isInteger {
		return false
	}
	return !slices.ContainsFunc(items[:len(items)-1], func(item any) bool {
		other := object.Field(item, key)
		_, alsoText := other.(string)
		return alsoText != isText || other == name
	})
}

// mergesNothing reports whether the JSON merge patch from old to desired changes nothing in live: where the two differ, live has desired's
// text.
func mergesNothing(old, desired, live map[string]any) bool {
	for name := range old {
		if !object.Has(desired, name) && object.Has(live, name) {
			return false
		}
	}
	for name, is := range desired {
		was, had := old[name]
		if had && object.Identical(was, is) {
			continue
		}
		switch is := is.(type) {
		case map[string]any:
			before, _ := was.(map[string]any)
			held, isMap := live[name].(map[string]any)
			if !isMap || !mergesNothing(before, is, held) {
				return false
			}
		case string:
			if live[name] != is {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// Most applies change nothing. appliesNothing recognizes them with the first steps of the API server's own field manager, and skips the
// later steps, which cost most (structured-merge-diff v6.4.2 merge/update.go Apply):
//
//	merge      live merged with desired must be live
//	prune      removes what the deployer owned and does not apply again; it must own exactly what it applies
//	compare    finds conflicts and new owners in what differs from live, which is nothing
//
// Before these steps, the field manager converts live to the versions of its managers, and adapts what they own to a changed schema. So
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
		deployer == "kubectl" { // the field manager reads its annotation
		return false
	}
	sets, owned, ok := setsOf(live, deployer, t.gvk.GroupVersion().String())
	if !ok {
		return false
	}
	is, err := t.TypeConverter.ObjectToTyped(&unstructured.Unstructured{Object: WithoutManagedFields(live)})
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

// holdsTexts reports whether live has all that desired has, spelled the same and in lists of the same length. Otherwise an apply most
// likely changes something, and the more expensive checks are not worth it.
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

// setsOf returns the fields that managers own in live, and those that the deployer applied. Ok is set if everybody wrote at the version.
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

// isWellFormed reports whether the API server can decode an entry of managedFields.
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

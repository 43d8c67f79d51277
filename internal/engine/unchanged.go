package engine

import (
	"maps"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Most objects of a release are as Helm left them, and its patch changes nothing in their normal form. The functions of this file recognize
// that from the texts, without the patch. They return true only if it is certain: the patch libraries have cases that depend on the order
// or on directives, and those are left to them.

// changesNothing reports whether live has the same normal form after Helm's patch. It returns false if that is not certain.
func (p ClientSide) changesNothing(old, desired, live map[string]any, s *kinds.Shape) bool {
	switch {
	case p.threeWay:
		return false
	case p.Engine == report.EngineStrategic:
		return dropsNothing(old, desired) && holdsFields(live, withoutIdentity(desired), s, false)
	}
	return mergesNothing(old, desired, live)
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

// withoutIdentity returns a text without the scalars of its metadata, such as its name and a creationTimestamp that is null: no normal form
// has them. Those that the API server refuses to change are kept.
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

// holdsFields reports whether live has every field of desired with the same value, except for values that the server would leave out. A
// strategic patch of it changes nothing that the normal form has. RetainsKeys is set if such a patch removes the other fields of live.
func holdsFields(live, desired map[string]any, s *kinds.Shape, retainsKeys bool) bool {
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
		case has && !holds(was, is, s, name):
			return false
		}
	}
	return true
}

// retainsAll reports whether the server sets the fields that live has beside those of desired again if a patch removes them.
func retainsAll(live, desired map[string]any, s *kinds.Shape) bool {
	kept := maps.Clone(live)
	maps.DeleteFunc(kept, func(name string, _ any) bool { return desired[name] == nil })
	return len(kept) == len(live) || object.Equal(s.Defaulted(live), s.Defaulted(kept))
}

// holds is holdsFields for one field that live has.
func holds(was, is any, s *kinds.Shape, name string) bool {
	rule, known := s.PatchRule(name)
	switch is := is.(type) {
	case nil:
		return false
	case map[string]any:
		below, isMap := was.(map[string]any)
		if !known || rule.Replaces { // the patch library compares what is in a map as a whole
			return (known || s.IsMap()) && object.Identical(was, is)
		}
		return isMap && holdsFields(below, is, s.Field(name), rule.RetainsKeys)
	case []any:
		list, isList := was.([]any)
		if !known {
			return s.IsMap() && object.Identical(was, is)
		}
		return isList && holdsList(list, is, s.Field(name), rule.RetainsKeys)
	}
	return was == is || s.Field(name).SameLeaf(was, is)
}

// holdsList is holdsFields for a list. A list that is merged must have the same items in the same order.
func holdsList(live, desired []any, s *kinds.Shape, retainsKeys bool) bool {
	key := s.ListRule().MergeKey
	switch {
	case !s.Keyed():
		return object.Identical(live, desired)
	case len(live) != len(desired):
		return false
	case key == "": // the patch has the order of a set, unless it is sorted
		return len(live) == 0 || len(live) == 1 && object.IsScalar(live[0]) && live[0] == desired[0]
	}
	for i := range desired {
		was, isMap := live[i].(map[string]any)
		is, alsoMap := desired[i].(map[string]any)
		if !isMap || !alsoMap || !isFirst(desired[:i+1], key) || !holdsFields(was, is, s.Item(), retainsKeys) {
			return false
		}
	}
	return true
}

// isFirst reports whether the last of the items has a merge key, and none before it has the same one. All keys must be texts, or integers.
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

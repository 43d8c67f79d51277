package apiserver

import (
	"slices"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// undecodedReason returns the reason why the API server cannot decode an object with such values; empty if there are none.
func undecodedReason(paths []object.Path) string {
	if len(paths) == 0 {
		return ""
	}
	return "does not decode: the API has another type at " + JoinPaths(paths)
}

// undecoded returns the paths in a value that hold something of another type than the API has. What the API does not describe may hold
// anything, and null decodes into every type.
func undecoded(v any, s *kinds.Shape, path object.Path) []object.Path {
	if s == nil || v == nil || s.Form == kinds.FormPlain {
		return nil
	}
	if s.Form == kinds.FormLeaf {
		text, _ := v.(string)
		if _, ok := s.Canonical(v); ok || s.Quantity && kinds.HasHugeExponent(text) {
			return nil
		}
		return []object.Path{path}
	}
	var out []object.Path
	switch v := v.(type) {
	case map[string]any:
		if s.Form == kinds.FormList {
			return []object.Path{path}
		}
		for _, name := range object.SortedKeys(v) {
			out = append(out, undecoded(v[name], s.Field(name), path.Field(name))...)
		}
	case []any:
		if s.Form != kinds.FormList {
			return []object.Path{path}
		}
		for i, item := range v {
			out = append(out, undecoded(item, s.Item(), path.With(stepToItem(s, i, item)))...)
		}
	default:
		return []object.Path{path}
	}
	return out
}

// stepToItem returns the step to an item of a list, by its keys if they decode, else by its index.
func stepToItem(s *kinds.Shape, i int, item any) object.Step {
	step, named := kinds.StepTo(item, s.ListRule())
	fails := func(k object.ListKey) bool { return len(undecoded(k.Value, s.Item().Field(k.Name), nil)) > 0 }
	if !named || step.Form != object.KeyStep || slices.ContainsFunc(step.Keys, fails) {
		return object.Step{Form: object.IndexStep, Index: i}
	}
	return step
}

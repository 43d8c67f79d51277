package apiserver

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Duplicates lists the items of keyed lists that a normal form has more than once. The API server stores them (two variables of one name),
// client-side Helm goes on with them, and server-side apply refuses the whole object.
func Duplicates(v any, s *kinds.Shape, path object.Path) []object.Path {
	var out []object.Path
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			out = append(out, Duplicates(v[name], s.Field(name), path.Field(name))...)
		}
	case []any:
		times := map[string]int{}
		for i, item := range v {
			step := object.Step{Form: object.IndexStep, Index: i}
			if named, ok := kinds.StepTo(item, s.Merges()); ok {
				step = named
			}
			at := path.With(step)
			if times[at.String()]++; times[at.String()] == 2 {
				out = append(out, at)
			}
			out = append(out, Duplicates(item, s.Item(), at)...)
		}
	}
	return out
}

// repeatedReason says why the API server refuses a custom resource whose lists repeat keys or members; empty where it does not. Of
// native kinds it takes them (apiextensions-apiserver v0.36.3 pkg/apiserver/schema/listtype ValidateListSetsAndMaps).
func repeatedReason(definition *kinds.CustomSchema, ref object.Ref, was, is map[string]any) string {
	if definition == nil {
		return ""
	}
	var places []object.Path
	kinds.WalkDeclared(is, definition.Roots[ref.Version], nil, func(path object.Path, v any, schema map[string]any) {
		list, _ := v.([]any)
		if before, _ := path.Lookup(was); len(list) > 1 && !object.Equal(before, v) {
			for _, i := range againIn(list, schema) {
				places = append(places, path.At(i))
			}
		}
	})
	if len(places) == 0 {
		return ""
	}
	return "Duplicate value: " + JoinPaths(places)
}

// againIn gives the indexes of the items that stand earlier in the list too, as its schema tells them apart.
func againIn(list []any, schema map[string]any) []int {
	keys, _ := schema["x-kubernetes-list-map-keys"].([]any)
	kind := schema["x-kubernetes-list-type"]
	if kind != "map" && kind != "set" {
		return nil
	}
	name := func(item any) any {
		if kind == "set" {
			return item
		}
		out := []any{}
		for _, key := range keys {
			out = append(out, object.Field(item, fmt.Sprint(key)))
		}
		return out
	}
	var out []int
	for i, item := range list {
		if slices.ContainsFunc(list[:i], func(other any) bool { return object.Equal(name(other), name(item)) }) {
			out = append(out, i)
		}
	}
	return out
}

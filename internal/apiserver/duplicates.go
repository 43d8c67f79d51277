package apiserver

import (
	"fmt"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Duplicates lists the items of keyed lists that a normal form has more than once. The API server stores them (two variables of one name),
// client-side Helm continues with them, and a server-side apply refuses the whole object.
func Duplicates(v any, s *kinds.Shape) []object.Path {
	if !mayRepeat(v, s) {
		return nil
	}
	return duplicates(v, s, nil)
}

// mayRepeat reports whether items of a keyed list have one name, or at least the same first key.
func mayRepeat(v any, s *kinds.Shape) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			if mayRepeat(below, s.Field(name)) {
				return true
			}
		}
	case []any:
		rule, seen := s.ListRule(), map[string]bool{}
		for _, item := range v {
			if mayRepeat(item, s.Item()) {
				return true
			}
			if !s.Keyed() {
				continue
			}
			if len(rule.Keys) > 0 {
				item = object.Field(item, rule.Keys[0])
			}
			name, isText := item.(string)
			if !isText {
				name = fmt.Sprint(item)
			}
			if seen[name] {
				return true
			}
			seen[name] = true
		}
	}
	return false
}

func duplicates(v any, s *kinds.Shape, path object.Path) []object.Path {
	var out []object.Path
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			out = append(out, duplicates(v[name], s.Field(name), path.Field(name))...)
		}
	case []any:
		times := map[string]int{}
		for i, item := range v {
			at := path.With(kinds.StepAt(i, item, s.ListRule()))
			if times[at.String()]++; times[at.String()] == 2 {
				out = append(out, at)
			}
			out = append(out, duplicates(item, s.Item(), at)...)
		}
	}
	return out
}

// duplicateErrors returns the API server's errors for lists of a custom resource that repeat keys or members. It accepts them in objects of
// native kinds, and in an update of an object that has some already (apiextensions-apiserver v0.37.1
// pkg/registry/customresource/strategy.go ValidateUpdate).
func duplicateErrors(schema *structuralschema.Structural, was, is map[string]any) (out []error) {
	if len(listtype.ValidateListSetsAndMaps(nil, schema, was)) > 0 {
		return nil
	}
	for _, err := range listtype.ValidateListSetsAndMaps(nil, schema, is) {
		out = append(out, err)
	}
	return out
}

package apiserver

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// undecodedReason returns the reason why the API server cannot decode an object with wrong values at these paths, or "" if
// there are no paths.
func undecodedReason(paths []object.Path) string {
	if len(paths) == 0 {
		return ""
	}
	return "does not decode: the API has another type at " + JoinPaths(paths)
}

// undecoded returns the paths in a value that hold another type than the API has. A place that the API does not describe may hold
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

// stepToItem returns the step to an item of a list, by its keys if they decode, or else by its index.
func stepToItem(s *kinds.Shape, i int, item any) object.Step {
	step, named := kinds.StepTo(item, s.ListRule())
	fails := func(k object.ListKey) bool { return len(undecoded(k.Value, s.Item().Field(k.Name), nil)) > 0 }
	if !named || step.Form != object.KeyStep || slices.ContainsFunc(step.Keys, fails) {
		return object.Step{Form: object.IndexStep, Index: i}
	}
	return step
}

// Duplicates lists the items of keyed lists that a normal form has more than once. The API server stores such items (two variables with
// the same name), and client-side Helm goes on with them, but a server-side apply refuses the whole object.
func Duplicates(v any, s *kinds.Shape) []object.Path {
	if !mayRepeat(v, s) {
		return nil
	}
	return duplicates(v, s, nil)
}

// mayRepeat reports whether several items of a keyed list have the same name, or at least the same first key.
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

// duplicateErrors returns the API server's errors for lists of a custom resource that repeat keys or members. It accepts such lists in
// objects of native kinds, and in an update of an object that already has one (apiextensions-apiserver v0.37.1
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

// Helm sends a server-side apply as JSON (helm v4.3.1 pkg/kube/client.go patchResourceServerSide), and the API server reads it as YAML
// (k8s.io/apiserver v0.37.1 pkg/endpoints/handlers/patch.go applyPatcher.applyPatchToCurrentObject). JSON escapes only the control
// characters below U+0020, and YAML refuses all other control characters unless they are escaped.

// ErrUnreadable is the API server's error for such characters. It does not say where they are.
var ErrUnreadable = errors.New("error decoding YAML: error converting YAML to JSON: yaml: control characters are not allowed")

// isUnreadable reports whether the API server's YAML parser refuses a character of a JSON text (go.yaml.in/yaml/v2 v2.4.4 readerc.go
// yaml_parser_update_buffer). All characters below U+0020 are escaped in JSON.
func isUnreadable(r rune) bool {
	return r >= 0x7F && r <= 0x9F && r != 0x85 || r == 0xFFFE || r == 0xFFFF
}

// Unreadable returns the paths in a manifest with such characters in their name or value.
func Unreadable(v any, path object.Path) []object.Path {
	var out []object.Path
	switch v := v.(type) {
	case string:
		if strings.ContainsFunc(v, isUnreadable) {
			out = append(out, path)
		}
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			if strings.ContainsFunc(name, isUnreadable) {
				out = append(out, path.Field(name))
				continue
			}
			out = append(out, Unreadable(v[name], path.Field(name))...)
		}
	case []any:
		for i, item := range v {
			out = append(out, Unreadable(item, path.Index(i))...)
		}
	}
	return out
}

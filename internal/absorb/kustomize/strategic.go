package kustomize

import (
	"encoding/json"
	"maps"
	"regexp"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
)

// Target is an object of a manifest that a patch changes.
type Target struct {
	object.Ref
	// Text is the object of the manifest, Normal is its normal form, with the same items in its lists, and Live is that of the live object.
	Text, Normal, Live map[string]any
	// Release is the namespace of the release, which manifests need not name.
	Release string
}

// Change is one field that should get live's value.
type Change struct {
	// Path is the path of the field in the normal form. An empty path means that the object should disappear.
	Path object.Path
	// Live is the value, and Present is false if live lacks the field.
	Live    any
	Present bool
}

// These are directives of strategic merge patches.
const (
	directive = "$patch"
	deletion  = "delete"
)

// Strategic returns the changes of an object as a strategic merge patch, or false if such a patch cannot express them. It can add an item
// to a list only if the item is the first one in live, because kustomize puts it there, and another order would replace pods.
func Strategic(t Target, changes []Change) (absorption.KustomizePatch, bool) {
	root := map[string]any{"apiVersion": t.APIVersion(), "kind": t.Kind, "metadata": map[string]any{"name": t.Name}}
	for _, c := range changes {
		if len(c.Path) == 0 {
			root[directive] = deletion
		} else if !merge(root, c.Path, place{t.Text, t.Normal, t.Live}, c) {
			return absorption.KustomizePatch{}, false
		}
	}
	return t.patch(root)
}

// patch returns the patch with a content.
func (t Target) patch(content any) (absorption.KustomizePatch, bool) {
	text, err := json.Marshal(content)
	out := absorption.KustomizePatch{Patch: string(text), Target: absorption.KustomizeTarget{
		Group: t.Group, Version: t.Version, Kind: t.Kind, Name: regexp.QuoteMeta(t.Name),
	}}
	// A manifest may leave out the namespace of the release, and then a target with it would match nothing.
	if t.Namespace != t.Release {
		out.Target.Namespace = regexp.QuoteMeta(t.Namespace)
	}
	return out, err == nil
}

// place is a part of an object in its text, in its normal form, and in live's normal form.
type place struct{ text, normal, live any }

func (p place) field(name string) place {
	return place{object.Field(p.text, name), object.Field(p.normal, name), object.Field(p.live, name)}
}

// item returns the item of a list that a step names. Its text is nil if the list lacks it.
func (p place) item(s object.Step) place {
	normal, _ := p.normal.([]any)
	text, _ := p.text.([]any)
	indexes := s.Indexes(normal)
	if len(indexes) != 1 || indexes[0] >= len(text) {
		return place{}
	}
	_, live, _ := s.Find(p.live)
	return place{text[indexes[0]], normal[indexes[0]], live}
}

// position returns the index for adding an item to the list, in the order of live.
func (p place) position(s object.Step) int {
	normal, _ := p.normal.([]any)
	live, _ := p.live.([]any)
	indexes := s.Indexes(live)
	if len(indexes) == 0 {
		return len(normal)
	}
	for i := indexes[0] - 1; i >= 0; i-- {
		before := object.Step{Form: s.Form, Value: live[i]}
		for _, k := range s.Keys {
			before.Keys = append(before.Keys, object.ListKey{Name: k.Name, Value: object.Field(live[i], k.Name)})
		}
		if known := before.Indexes(normal); len(known) > 0 {
			return known[len(known)-1] + 1
		}
	}
	return 0
}

// merge adds the change of the field at path to a part of a patch. It returns false if a strategic merge patch cannot express a step.
func merge(patch map[string]any, path object.Path, at place, c Change) bool {
	name := path[0].Name
	if path[0].Form != object.FieldStep {
		return false
	}
	below := at.field(name)
	switch {
	case len(path) == 1 && !c.Present:
		patch[name] = nil
	case len(path) == 1:
		patch[name] = merged(below.text, c.Live)
	case path[1].Form == object.FieldStep:
		next, _ := patch[name].(map[string]any)
		if next == nil {
			next = map[string]any{}
			patch[name] = next
		}
		return merge(next, path[1:], below, c)
	case path[1].Form == object.KeyStep:
		item := below.item(path[1])
		if item.text == nil && below.position(path[1]) > 0 {
			return false
		}
		list, _ := patch[name].([]any)
		changed, ok := mergeItem(list, path[1:], item, c)
		patch[name] = changed
		return ok
	default:
		return false
	}
	return true
}

// mergeItem adds a change in an item of a list, or of the item itself, to the list of a patch.
func mergeItem(list []any, path object.Path, at place, c Change) ([]any, bool) {
	keys := keysOf(path[0], at.text)
	var item map[string]any
	for _, known := range list {
		if m, _ := known.(map[string]any); hasKeys(m, keys) {
			item = m
		}
	}
	if item == nil {
		item = maps.Clone(keys)
		list = append(list, item)
	}
	if len(path) > 1 {
		return list, at.text != nil && merge(item, path[1:], at, c)
	}
	if !c.Present {
		item[directive] = deletion
		return list, true
	}
	live, ok := merged(at.text, c.Live).(map[string]any)
	maps.Copy(item, live)
	return list, ok
}

// keysOf returns the list-map keys of a step, except those that the text leaves to their defaults.
func keysOf(s object.Step, text any) map[string]any {
	item, _ := text.(map[string]any)
	out := map[string]any{}
	for _, k := range s.Keys {
		if _, found := item[k.Name]; found || item == nil {
			out[k.Name] = k.Value
		}
	}
	return out
}

func hasKeys(item, keys map[string]any) bool {
	for name, value := range keys {
		if item[name] != value {
			return false
		}
	}
	return true
}

// merged returns the patch that turns one value into another: maps by their keys, with null for a key to remove, and the rest as a whole.
func merged(before, after any) any {
	was, ok := before.(map[string]any)
	is, ok2 := after.(map[string]any)
	if !ok || !ok2 {
		return object.Copy(after)
	}
	out := map[string]any{}
	for name := range was {
		if _, stays := is[name]; !stays {
			out[name] = nil
		}
	}
	for name, value := range is {
		if old, had := was[name]; !had || !object.Equal(old, value) {
			out[name] = merged(old, value)
		}
	}
	return out
}

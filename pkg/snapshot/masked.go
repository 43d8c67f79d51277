package snapshot

import (
	"encoding/base64"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// masking handles a chart's values if the old and live objects have tokens instead of secrets (drift.Connection.Masking). A chart that
// passes on the masked values of the record renders the same tokens, and these are compared. A value that is a token on one side only
// cannot be compared: the desired object gets the value of the old one, or else of the live one, so that drift is still reported, and the
// report lists the field as not compared.
type masking struct{}

// LeaveOut replaces the values of the desired objects that cannot be compared, and adds them to NotCompared.
func (masking) LeaveOut(in *threeway.Input) {
	in.DesiredObjects, in.NotCompared, in.Warnings = slices.Clone(in.DesiredObjects), slices.Clone(in.NotCompared), slices.Clone(in.Warnings)
	old := map[object.Key]map[string]any{}
	for _, o := range in.OldObjects {
		old[o.Key] = o.Content
	}
	count := 0
	for i := range in.DesiredObjects {
		o := &in.DesiredObjects[i]
		known := []map[string]any{old[o.Key], in.Live[o.Ref].Object}
		m := maskedFields{isSecret: secret.Kind(o.Group, o.Kind)}
		o.Content = m.object(o.Content, known)
		again := maskedFields{isSecret: m.isSecret}
		o.Again, o.AtOnce = again.object(o.Again, known), again.object(o.AtOnce, known)
		if o.Again != nil && reflect.DeepEqual(o.Again, o.Content) {
			o.Again, o.AtOnce = nil, nil
		}
		for _, path := range m.paths {
			in.NotCompared = append(in.NotCompared, report.NotCompared{
				Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Reason: report.NotComparedMasked, Path: secret.Scrub(path.String()),
			})
		}
		count += len(m.paths)
	}
	if count > 0 {
		in.Warnings = append(in.Warnings, report.Message{Code: report.WarnMasked, Message: fmt.Sprintf(
			"the snapshot holds %d of the values masked that the chart sets in clear; whether the upgrade changes them is not known", count)})
	}
}

// maskedFields collects the fields of one object that cannot be compared.
type maskedFields struct {
	isSecret bool
	paths    []object.Path
}

// object returns a copy of a desired object. Each value that cannot be compared becomes that of the first known object that has one.
func (m *maskedFields) object(desired map[string]any, known []map[string]any) map[string]any {
	if desired == nil {
		return nil
	}
	sides := make([]any, 0, len(known))
	for _, k := range known {
		if k != nil {
			sides = append(sides, asManifest(k, desired, m.isSecret))
		}
	}
	out, _ := m.value(nil, desired, sides).(map[string]any)
	return out
}

// value returns a desired value in a form that can be compared with the same place of the known objects.
func (m *maskedFields) value(path object.Path, desired any, sides []any) any {
	switch desired := desired.(type) {
	case map[string]any:
		out := make(map[string]any, len(desired))
		for _, name := range object.SortedKeys(desired) {
			out[name] = m.value(path.Field(name), desired[name], below(sides, func(side any) any { return object.Field(side, name) }))
		}
		return out
	case []any:
		out := make([]any, len(desired))
		for i, item := range desired {
			out[i] = m.value(itemPath(path, item, i), item, below(sides, func(side any) any { return itemLike(side, desired, i) }))
		}
		return out
	case string:
		if i := slices.IndexFunc(sides, func(side any) bool { return cannotCompare(desired, side) }); i >= 0 {
			m.paths = append(m.paths, path)
			return sides[0]
		}
	}
	return desired
}

// cannotCompare reports whether exactly one of two texts has a token.
func cannotCompare(desired string, known any) bool {
	text, isText := known.(string)
	return isText && text != desired && secret.HoldsToken(text) != secret.HoldsToken(desired)
}

// below returns what a function finds in the sides, without those that lack it.
func below(sides []any, find func(any) any) (out []any) {
	for _, side := range sides {
		if v := find(side); v != nil {
			out = append(out, v)
		}
	}
	return out
}

// itemPath returns the path of a list item, as in reports for lists of named items: env[name=PASSWORD].
func itemPath(list object.Path, item any, i int) object.Path {
	if name, ok := object.Field(item, "name").(string); ok {
		return list.Item([]object.ListKey{{Name: "name", Value: name}})
	}
	return list.Index(i)
}

// itemLike returns the item of another list that corresponds to the i-th item of a list: the item with the same name or key, or else the
// item at the same place of a list of the same length.
func itemLike(side any, list []any, i int) any {
	other, _ := side.([]any)
	for _, field := range []string{"name", "key"} {
		if name, ok := object.Field(list[i], field).(string); ok {
			at := slices.IndexFunc(other, func(item any) bool { return object.Field(item, field) == name })
			if at < 0 {
				return nil
			}
			return other[at]
		}
	}
	if len(other) != len(list) {
		return nil
	}
	return other[i]
}

// Mark marks the findings about fields whose desired value was not compared: they are only about old and live.
func (masking) Mark(r *report.Release) {
	masked := map[report.NotCompared]bool{}
	for _, n := range r.NotCompared {
		if n.Reason == report.NotComparedMasked {
			n.Path = strings.Replace(n.Path, "stringData.", "data.", 1)
			masked[n] = true
		}
	}
	for i := range r.Objects {
		o := &r.Objects[i]
		for j := range o.Fields {
			f := &o.Fields[j]
			at := report.NotCompared{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Path: f.Path, Reason: report.NotComparedMasked}
			if masked[at] {
				f.Certain = false
				f.Notes.Add("the chart's value is not compared, because the snapshot holds the old one masked")
			}
		}
	}
}

// asManifest returns a known Secret with its data in the form of the desired one: it decodes what is stringData there.
func asManifest(known, desired map[string]any, isSecret bool) map[string]any {
	wanted := object.Child(desired, "stringData")
	if !isSecret || len(wanted) == 0 {
		return known
	}
	texts := map[string]any{}
	maps.Copy(texts, object.Child(known, "stringData"))
	for name, v := range object.Child(known, "data") {
		text, _ := v.(string)
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil && texts[name] == nil {
			texts[name] = string(raw)
		}
	}
	out := maps.Clone(known)
	out["stringData"] = texts
	return out
}

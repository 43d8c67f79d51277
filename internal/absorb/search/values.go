package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/absorb/reads"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// EachValue visits the values that may change: scalars, maps and lists, except those whose names announce a secret.
func EachValue(values map[string]any, visit func(path []any, v any)) {
	walkBelow(values, nil, secret.Place{}, visit)
}

// walkBelow visits the value at a path and those below it, unless names announce that they are secret.
func walkBelow(v any, path []any, place secret.Place, visit func([]any, any)) {
	if place.Announced() {
		return
	}
	if len(path) > 0 {
		visit(path, v)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range object.SortedKeys(v) {
			// Helm copies the globals into each subchart. A change of the copy has no effect, since the globals are copied over it.
			if key == "global" && len(path) > 0 {
				continue
			}
			walkBelow(v[key], append(path[:len(path):len(path)], key), place.Field(key), visit)
		}
	case []any:
		for i, item := range v {
			walkBelow(item, append(path[:len(path):len(path)], i), place.Item(secret.ItemName(item)), visit)
		}
	}
}

// Place returns the place of a path of values, as far as it decides whether the value is secret.
func Place(values map[string]any, path []any) secret.Place {
	place := secret.Place{}
	for i, step := range path {
		if name, ok := step.(string); ok {
			place = place.Field(name)
		} else {
			item, _ := valuesfile.ValueAt(values, path[:i+1])
			place = place.Item(secret.ItemName(item))
		}
	}
	return place
}

// plainPath returns a path that a template reads as a path of values, or false if any key of it is not known.
func plainPath(read []reads.Key) ([]any, bool) {
	out := make([]any, len(read))
	for i, key := range read {
		if key.Any {
			return nil, false
		}
		out[i] = key.Name
	}
	return out, true
}

// isRead reports whether a path equals a path that is read, or is above or below one. A template that reads a map reads everything in it,
// and a template that reads a leaf depends on the maps around it.
func isRead(all []reads.Value, path []any) bool {
	return slices.ContainsFunc(all, func(read reads.Value) bool {
		for i := range min(len(read.Path), len(path)) {
			if key, ok := path[i].(string); ok && !read.Path[i].Any && read.Path[i].Name != key {
				return false
			}
		}
		return !read.OnlyTested || len(path) <= len(read.Path)
	})
}

// nameOf returns a path in the form that people use.
func nameOf(path []any) string {
	var b strings.Builder
	for i, step := range path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		case string:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		}
	}
	return b.String()
}

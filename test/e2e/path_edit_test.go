package e2e

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// removeWithEmptyParents removes what the path leads to, and the parents that contain nothing else.
func (p fieldPath) removeWithEmptyParents(root map[string]any) {
	if _, ok := p.lookup(root); !ok {
		return
	}
	for len(p) > 1 && p.hasNoSiblings(root) {
		p = p[:len(p)-1]
	}
	p.remove(root)
}

// hasNoSiblings reports whether only empty values are next to what the path leads to.
func (p fieldPath) hasNoSiblings(root map[string]any) bool {
	parent, _ := p[:len(p)-1].lookup(root)
	switch parent := parent.(type) {
	case map[string]any:
		rest := maps.Clone(parent)
		delete(rest, p[len(p)-1].field)
		return isEmpty(withoutEmpty(rest))
	case []any:
		return len(parent) == 1
	}
	return false
}

// removeAll removes what the paths lead to, and parents that contain nothing else. It removes the keys of items last and all at once,
// because items are found by them; and items with an index from the end, because a removed item moves those after it.
func removeAll(paths []fieldPath, root map[string]any) {
	paths = slices.SortedStableFunc(slices.Values(paths), func(a, b fieldPath) int { return slices.Compare(b.indexes(), a.indexes()) })
	var keys []func()
	for _, path := range paths {
		if !path.isKey() {
			path.removeWithEmptyParents(root)
		}
	}
	for _, path := range paths {
		if path.isKey() {
			keys = append(keys, path.keyRemover(root))
		}
	}
	for _, drop := range keys {
		drop()
	}
}

// indexes returns the indexes of the items on the path.
func (p fieldPath) indexes() []int {
	out := make([]int, len(p))
	for i := range p {
		out[i] = p[i].index
	}
	return out
}

// isKey reports whether the path leads to a key of a list item.
func (p fieldPath) isKey() bool {
	return len(p) > 2 && p[len(p)-2].keys[p[len(p)-1].field] != ""
}

// keyRemover finds the item whose key the path leads to. The returned function removes the key, and the item if it has nothing else.
func (p fieldPath) keyRemover(root map[string]any) func() {
	holder, _ := p[:len(p)-3].lookup(root)
	item, _ := p[:len(p)-1].lookup(root)
	m, ok := holder.(map[string]any)
	one, isMap := item.(map[string]any)
	if !ok || !isMap {
		return func() {}
	}
	return func() {
		delete(one, p[len(p)-1].field)
		name := p[len(p)-3].field
		list, _ := m[name].([]any)
		m[name] = slices.DeleteFunc(list, func(v any) bool { left, ok := v.(map[string]any); return ok && isEmpty(withoutEmpty(left)) })
	}
}

// sortList sorts the list at a path by its JSON.
func (p fieldPath) sortList(root map[string]any) {
	v, _ := p.lookup(root)
	if list, ok := v.([]any); ok {
		slices.SortFunc(list, func(a, b any) int {
			x, _ := json.Marshal(withoutEmpty(a))
			y, _ := json.Marshal(withoutEmpty(b))
			return strings.Compare(string(x), string(y))
		})
	}
}

// put writes a value at the path and creates missing parents; nil removes what is there.
func (p fieldPath) put(root map[string]any, value any) {
	if value == nil {
		p.remove(root)
		return
	}
	putAt(root, p, withNulls(runtime.DeepCopyJSONValue(value)))
}

// withNulls replaces the pool's notation of nulls by nulls.
func withNulls(v any) any {
	switch v := v.(type) {
	case string:
		if v == writtenNull {
			return nil
		}
	case map[string]any:
		for name := range v {
			v[name] = withNulls(v[name])
		}
	case []any:
		for i := range v {
			v[i] = withNulls(v[i])
		}
	}
	return v
}

// putAt returns the node with the value in it, or a new node if the node has another type.
func putAt(node any, p fieldPath, value any) any {
	if len(p) == 0 {
		return value
	}
	s := p[0]
	if s.keys == nil {
		m, ok := node.(map[string]any)
		if !ok {
			m = map[string]any{}
		}
		m[s.field] = putAt(m[s.field], p[1:], value)
		return m
	}
	list, _ := node.([]any)
	i := s.indexIn(withDefaultProtocol(list, s))
	if i < 0 {
		i, list = len(list), append(list, s.newItem())
	}
	list[i] = putAt(list[i], p[1:], value)
	return list
}

// withDefaultProtocol adds the protocol of ports, which charts leave out, if a step has it.
func withDefaultProtocol(list []any, s pathStep) []any {
	if s.keys["protocol"] == "" {
		return list
	}
	out := make([]any, len(list))
	for i := range list {
		m, _ := runtime.DeepCopyJSONValue(list[i]).(map[string]any)
		if m != nil && m["protocol"] == nil {
			m["protocol"] = "TCP"
		}
		out[i] = m
	}
	return out
}

// newItem returns an item with only the keys of its step.
func (s pathStep) newItem() map[string]any {
	out := map[string]any{}
	for name, text := range s.keys {
		out[name] = text
		if number, err := strconv.ParseInt(text, 10, 64); err == nil {
			out[name] = number
		}
	}
	return out
}

// replace writes a value at the path and reports whether something was there.
func (p fieldPath) replace(root map[string]any, value any) bool {
	parent, ok := p[:len(p)-1].lookup(root)
	last := p[len(p)-1]
	switch node := parent.(type) {
	case map[string]any:
		_, there := node[last.field]
		if ok && there {
			node[last.field] = value
		}
		return ok && there
	case []any:
		if i := max(last.index, last.indexIn(node)); i >= 0 && i < len(node) {
			node[i] = value
			return true
		}
	}
	return false
}

// overlapsAny reports whether the path equals one of others, or is above or below one. It does not distinguish the items of a list.
func (p fieldPath) overlapsAny(others []fieldPath) bool {
	return slices.ContainsFunc(others, func(o fieldPath) bool {
		for i := range min(len(p), len(o)) {
			if p[i].field != o[i].field {
				return false
			}
		}
		return true
	})
}

// remove removes what the path leads to.
func (p fieldPath) remove(root map[string]any) {
	parent, ok := p[:len(p)-1].lookup(root)
	s := p[len(p)-1]
	if !ok {
		return
	}
	switch node := parent.(type) {
	case map[string]any:
		delete(node, s.field)
	case []any:
		if i := max(s.index, s.indexIn(node)); i >= 0 && i < len(node) {
			node[i] = nil
			for next := s.indexIn(node); s.keys != nil && next >= 0; next = s.indexIn(node) {
				node[next] = nil
			}
			p[:len(p)-1].setList(root, slices.DeleteFunc(node, func(item any) bool { return item == nil }))
		}
	}
}

// setList puts a shortened list back into its parent, which is a map.
func (p fieldPath) setList(root map[string]any, list []any) {
	if parent, ok := p[:len(p)-1].lookup(root); ok {
		if m, ok := parent.(map[string]any); ok {
			m[p[len(p)-1].field] = list
		}
	}
}

// removeRenamed removes the item that got its old key back: the one that no longer exists in a list whose length is unchanged.
func (p fieldPath) removeRenamed(was, is map[string]any) {
	last := p[len(p)-1]
	v, _ := p[:len(p)-1].lookup(was)
	w, _ := p[:len(p)-1].lookup(is)
	before, isList := v.([]any)
	after, _ := w.([]any)
	if !isList || last.keys == nil || len(before) != len(after) || last.indexIn(before) >= 0 {
		return
	}
	if i := last.indexIn(after); i >= 0 && i < len(before) {
		p[:len(p)-1].put(was, append(before[:i:i], before[i+1:]...))
	}
}

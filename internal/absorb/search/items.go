package search

import (
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// maxLists is how many lists get the live items.
const maxLists = 40

// items returns the attempts that add live's items to the lists, or remove those that live lacks.
func (f *field) items(nodes []leaf) []attempt {
	added, removed, ok := f.itemChanges()
	if !ok {
		return nil
	}
	var out []attempt
	count := 0
	for _, l := range nodes {
		if count >= maxLists || !l.read {
			continue
		}
		found := f.withItems(l, added, removed)
		if len(found) > 0 {
			out, count = append(out, found...), count+1
		}
	}
	return out
}

// itemChanges returns the items at the field that only live has, and those that only desired has, or false if the field is neither a list
// nor an item of one. The field is the list itself, or one item of it if the API server merges the list by a key.
func (f *field) itemChanges() (added, removed []any, ok bool) {
	if len(f.Path) == 0 {
		return nil, nil, false
	}
	now, had := f.desired(f.current)
	if last := f.Path[len(f.Path)-1]; last.Form != object.FieldStep {
		switch {
		case f.Present && !had:
			return []any{f.text()}, nil, true
		case !f.Present && had:
			return nil, []any{now}, true
		}
		return nil, nil, false
	}
	live, isList := f.text().([]any)
	was, wasList := now.([]any)
	if !isList && (f.Present || !wasList) || !wasList && had {
		return nil, nil, false
	}
	return without(live, was), without(was, live), true
}

// without returns the items of a list that another one lacks. An edited item counts as one that was removed and one that was added.
func without(list, other []any) []any {
	return object.Filter(list, func(item any) bool {
		return !slices.ContainsFunc(other, func(o any) bool { return object.Equal(item, o) })
	})
}

// withItems returns the attempts that change one list. If the value is a text, it counts as the template of a list.
func (f *field) withItems(l leaf, added, removed []any) []attempt {
	var out []attempt
	switch v := l.value.(type) {
	case []any:
		list := without(v, removed)
		// The list has none of the items to remove, so it is not the list behind the field.
		if len(removed) > 0 && len(list) == len(v) {
			return nil
		}
		list = append(list, added...)
		if !object.Equal(any(list), any(v)) {
			out = append(out, attempt{edits: []Edit{{Path: l.path, Value: list}}, score: l.score})
		}
	case nil:
		if len(added) > 0 {
			out = append(out, attempt{edits: []Edit{{Path: l.path, Value: added}}, score: l.score})
		}
	case map[string]any:
		// Some charts have {} as the default where they also accept a list.
		if len(added) > 0 && len(v) == 0 {
			out = append(out, attempt{edits: []Edit{{Path: l.path, Value: added}}, score: l.score - 2})
		}
	case string:
		// Some charts take extra containers or volumes as a text that they pass through tpl.
		if len(added) > 0 && v == "" && f.YAML != nil {
			out = append(out, attempt{edits: []Edit{{Path: l.path, Value: f.YAML(added)}}, score: l.score - 2})
		}
	}
	return out
}

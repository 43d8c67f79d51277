package absorb

import (
	"slices"
	"strconv"

	"github.com/helmdrift/helmdrift/pkg/object"
)

func itoa(i int) string { return strconv.Itoa(i) }

// items returns the attempts that add the live items to the lists, or take away those that live lacks.
func (f *fieldSearch) items(nodes []leaf) []attempt {
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

// itemChanges returns the items that live has and desired lacks at the field, and the other way round; false if the field is no list and no
// item of one. The field may be the list itself or one item of it, depending on whether the API server merges the list by a key.
func (f *fieldSearch) itemChanges() (added, removed []any, ok bool) {
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

// without returns the items of a list that another one lacks. Items are compared as a whole: one that was edited is one that went and one
// that came.
func without(list, other []any) []any {
	var out []any
	for _, item := range list {
		if !slices.ContainsFunc(other, func(o any) bool { return object.Equal(item, o) }) {
			out = append(out, item)
		}
	}
	return out
}

// withItems returns the attempts that change one list. A text is taken for a template of a list.
func (f *fieldSearch) withItems(l leaf, added, removed []any) []attempt {
	var out []attempt
	switch v := l.value.(type) {
	case []any:
		list := without(v, removed)
		// The list has none of the items that live lacks, so it is not the one that the template writes.
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
		// Charts write {} where they take a list too, or range over whatever there is.
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

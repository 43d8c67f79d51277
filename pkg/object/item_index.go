package object

import (
	"fmt"
	"strconv"
)

// ItemIndex finds the items of a list by their steps. It looks at each item once, where Step.Indexes looks at all of them for each step.
type ItemIndex struct {
	list []any
	// byName has the indexes of the items with a name, for each combination of keys that steps have.
	byName map[string]map[string][]int
}

// NewItemIndex returns the index of a list, which must not change.
func NewItemIndex(list []any) *ItemIndex { return &ItemIndex{list, map[string]map[string][]int{}} }

// Indexes returns what Step.Indexes returns for the list.
func (x *ItemIndex) Indexes(s Step) []int {
	const few = 8 // items, at which it is faster to look
	switch {
	case s.Form == IndexStep && s.Index >= 0 && s.Index < len(x.list):
		return []int{s.Index}
	case s.Form == IndexStep || len(x.list) <= few || s.Form == KeyStep && len(s.Keys) == 0:
		return s.Indexes(x.list)
	}
	keys, wanted := "", map[string]any{}
	for _, k := range s.Keys {
		keys, wanted[k.Name] = keys+strconv.Quote(k.Name), k.Value
	}
	found, known := x.byName[keys]
	if !known {
		found = map[string][]int{}
		for i, item := range x.list {
			if name := s.nameOf(item); name != "" {
				found[name] = append(found[name], i)
			}
		}
		x.byName[keys] = found
	}
	if s.Form == SetStep {
		return found[s.nameOf(s.Value)]
	}
	return found[s.nameOf(wanted)]
}

// nameOf returns the name that an item has by the keys of the step, or by its value in a set, with the types of the values. It is empty if
// the item has none.
func (s Step) nameOf(item any) (name string) {
	values := []any{item}
	if s.Form == KeyStep {
		values = nil
		m, _ := item.(map[string]any)
		for _, k := range s.Keys {
			values = append(values, m[k.Name])
		}
	}
	for _, v := range values {
		if !IsScalar(v) {
			return ""
		}
		name += fmt.Sprintf("%T%q", v, fmt.Sprint(v))
	}
	return name
}

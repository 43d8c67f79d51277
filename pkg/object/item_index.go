package object

import (
	"fmt"
	"strings"
)

// ItemIndex finds the items of a list by their steps. It looks at each item once, where Step.Indexes looks at all of them for each step.
type ItemIndex struct {
	list []any
	// byName has the indexes of the items with a name, for each combination of keys that steps have.
	byName map[string]map[string][]int
}

// NewItemIndex returns the index of a list, which must not change.
func NewItemIndex(list []any) *ItemIndex { return &ItemIndex{list: list} }

// fewItems is the length up to which looking at all items is faster.
const fewItems = 8

// Indexes returns what Step.Indexes returns for the list.
func (x *ItemIndex) Indexes(s Step) []int {
	switch {
	case s.Form == IndexStep && s.Index >= 0 && s.Index < len(x.list):
		return []int{s.Index}
	case s.Form == IndexStep || s.Form == FieldStep:
		return nil
	case len(x.list) <= fewItems || s.Form == KeyStep && len(s.Keys) == 0:
		return s.Indexes(x.list)
	}
	keys := ""
	for _, k := range s.Keys {
		keys += withLength(k.Name)
	}
	found, known := x.byName[keys]
	if !known {
		found = map[string][]int{}
		for i, item := range x.list {
			if name, has := s.nameOf(item); has {
				found[name] = append(found[name], i)
			}
		}
		if x.byName == nil {
			x.byName = map[string]map[string][]int{}
		}
		x.byName[keys] = found
	}
	return found[s.identity()]
}

// identity returns the name of the items that the step names, with the types of its values.
func (s Step) identity() string {
	if s.Form == SetStep {
		return typed(s.Value)
	}
	var b strings.Builder
	for _, k := range s.Keys {
		b.WriteString(withLength(typed(k.Value)))
	}
	return b.String()
}

// nameOf returns the name that an item has by the keys of the step, or by its value in a set. It reports false if the item has none.
func (s Step) nameOf(item any) (string, bool) {
	if s.Form == SetStep {
		return typed(item), IsScalar(item)
	}
	m, isMap := item.(map[string]any)
	if !isMap {
		return "", false
	}
	var b strings.Builder
	for _, k := range s.Keys {
		if !IsScalar(m[k.Name]) {
			return "", false
		}
		b.WriteString(withLength(typed(m[k.Name])))
	}
	return b.String(), true
}

// typed returns a text for a scalar, which differs for values of different types.
func typed(v any) string {
	if text, isText := v.(string); isText {
		return "s" + text
	}
	return fmt.Sprintf("%T %v", v, v)
}

// withLength returns a text that is never the beginning of another such text.
func withLength(text string) string { return fmt.Sprint(len(text), ":", text) }

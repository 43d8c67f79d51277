package object

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Path leads from the root of an object to a field. Its String is for people and is never parsed back; Pointer is for programs.
type Path []Step

// Step is one step of a Path. Exactly one form is used: a field or map key, a list item named by its list-map keys,
// an item of a set, or, where items have no usable key, an index.
type Step struct {
	Form  StepForm
	Name  string
	Keys  []ListKey
	Value any
	Index int
}

// StepForm tells which of a Step's fields speaks.
type StepForm int

// The forms of a Step.
const (
	FieldStep StepForm = iota
	KeyStep
	SetStep
	IndexStep
)

// ListKey is one list-map key of a list item with its value, such as containerPort=53.
type ListKey struct {
	Name  string
	Value any
}

// Field returns the path of a field or map key below p.
func (p Path) Field(name string) Path { return p.With(Step{Form: FieldStep, Name: name}) }

// Item returns the path of a list item below p, named by its list-map keys.
func (p Path) Item(keys []ListKey) Path { return p.With(Step{Form: KeyStep, Keys: keys}) }

// SetItem returns the path of an item of a set below p.
func (p Path) SetItem(value any) Path { return p.With(Step{Form: SetStep, Value: value}) }

// At returns the path of the list item with index i below p.
func (p Path) At(i int) Path { return p.With(Step{Form: IndexStep, Index: i}) }

// EndsInKey reports whether the path names a list item by a list-map key of that name.
func (p Path) EndsInKey(name string) bool {
	if len(p) == 0 || p[len(p)-1].Form != KeyStep {
		return false
	}
	return slices.ContainsFunc(p[len(p)-1].Keys, func(k ListKey) bool { return k.Name == name })
}

// With returns the path with one more step.
func (p Path) With(s Step) Path { return append(slices.Clip(p), s) }

// Equal reports whether two paths name the same place.
func (p Path) Equal(o Path) bool { return slices.EqualFunc(p, o, Step.Equal) }

// HasPrefix reports whether p is o or a place below it.
func (p Path) HasPrefix(o Path) bool { return len(o) <= len(p) && p[:len(o)].Equal(o) }

// Overlaps reports whether one of two paths leads to or through the other.
func (p Path) Overlaps(o Path) bool { return p.HasPrefix(o) || o.HasPrefix(p) }

// Equal reports whether two steps are the same.
func (s Step) Equal(o Step) bool {
	return s.Form == o.Form && s.Name == o.Name && s.Index == o.Index && s.Value == o.Value && slices.Equal(s.Keys, o.Keys)
}

// String returns the path as people read it: spec.template.spec.containers[name=web].image, metadata.finalizers["x"].
func (p Path) String() string {
	var b strings.Builder
	for _, s := range p {
		switch s.Form {
		case FieldStep:
			switch {
			case !plainName(s.Name):
				fmt.Fprintf(&b, "[%q]", s.Name)
			case b.Len() > 0:
				b.WriteString("." + s.Name)
			default:
				b.WriteString(s.Name)
			}
		case KeyStep:
			b.WriteString("[" + joinKeys(s.Keys) + "]")
		case SetStep:
			fmt.Fprintf(&b, "[%q]", fmt.Sprint(s.Value))
		case IndexStep:
			fmt.Fprintf(&b, "[%d]", s.Index)
		}
	}
	return b.String()
}

func joinKeys(keys []ListKey) string {
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = fmt.Sprintf("%s=%v", k.Name, k.Value)
	}
	return strings.Join(parts, ",")
}

// plainName reports whether a field name can stand in a path without quotes.
func plainName(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for _, r := range s {
		if r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return false
		}
	}
	return true
}

// Find takes the step in node and returns the token of the pointer, and the value found. Where several items of a list have the name, the token
// leads to the first of them, and the value is all of them.
func (s Step) Find(node any) (token string, next any, ok bool) {
	if s.Form == FieldStep {
		m, isMap := node.(map[string]any)
		if !isMap {
			return "", nil, false
		}
		next, ok = m[s.Name]
		return s.Name, next, ok
	}
	list, _ := node.([]any)
	at := s.Indexes(list)
	if len(at) == 0 {
		return "", nil, false
	}
	return strconv.Itoa(at[0]), Together(pick(list, at)), true
}

// Indexes returns the places of the items that the step names. The API server stores several items of one name in lists of native
// kinds, such as two variables.
func (s Step) Indexes(list []any) []int {
	var out []int
	for i, item := range list {
		if s.Matches(i, item) {
			out = append(out, i)
		}
	}
	return out
}

// pick returns the items of a list at some indexes, as far as it has them.
func pick(list []any, at []int) []any {
	var out []any
	for _, i := range at {
		if i < len(list) {
			out = append(out, list[i])
		}
	}
	return out
}

// Together returns the value of all items of one name: the item itself where there is one, else the list of them.
func Together(items []any) any {
	switch len(items) {
	case 0:
		return nil
	case 1:
		return items[0]
	}
	return items
}

// Label returns how a list of names calls the item.
func (s Step) Label() string {
	if s.Form == SetStep {
		return fmt.Sprint(s.Value)
	}
	return joinKeys(s.Keys)
}

// Matches reports whether the step names the item that stands at index i of its list.
func (s Step) Matches(i int, item any) bool {
	switch s.Form {
	case IndexStep:
		return i == s.Index
	case SetStep:
		return IsScalar(item) && item == s.Value
	case KeyStep:
		m, ok := item.(map[string]any)
		return ok && !slices.ContainsFunc(s.Keys, func(k ListKey) bool { return !IsScalar(m[k.Name]) || m[k.Name] != k.Value })
	case FieldStep:
	}
	return false
}

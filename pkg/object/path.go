package object

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Path leads from the root of an object to a field. Its String is for people; a Pointer is for programs.
type Path []Step

// Step is one step of a Path. Form says which of the other fields it uses: Name for a field or map key, Keys for a list item that is
// named by its list-map keys, Value for an item of a set, and Index for an item that has no usable key.
type Step struct {
	Form  StepForm
	Name  string
	Keys  []ListKey
	Value any
	Index int
}

// ItemName returns a text that two steps into one list have in common if and only if they lead to the same item. A Step cannot be compared.
func (s Step) ItemName() string {
	name, err := json.Marshal([]any{s.Keys, s.Value})
	if err != nil {
		return fmt.Sprint(s.Keys, s.Value) // no value of JSON is like that
	}
	return string(name)
}

// StepForm is the form of a Step.
type StepForm int

// These are the forms of a Step.
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

// Index returns the path of the list item with index i below p.
func (p Path) Index(i int) Path { return p.With(Step{Form: IndexStep, Index: i}) }

// With returns the path with one more step.
func (p Path) With(s Step) Path { return append(slices.Clip(p), s) }

// Follow returns the part of v that a path leads to. Field and item return what one step leads to.
func Follow[T any](v T, path Path, field func(T, string) T, item func(T, Step) T) T {
	for _, step := range path {
		if step.Form == FieldStep {
			v = field(v, step.Name)
		} else {
			v = item(v, step)
		}
	}
	return v
}

// EndsInKey reports whether the last step of the path names a list item by a list-map key of that name.
func (p Path) EndsInKey(name string) bool {
	return len(p) > 0 && slices.ContainsFunc(p[len(p)-1].Keys, func(k ListKey) bool { return k.Name == name })
}

// Equal reports whether two paths lead to the same place.
func (p Path) Equal(o Path) bool { return slices.EqualFunc(p, o, Step.Equal) }

// HasPrefix reports whether p is o or a place below it.
func (p Path) HasPrefix(o Path) bool { return len(o) <= len(p) && p[:len(o)].Equal(o) }

// Overlaps reports whether one of two paths is the other or a place below it.
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
			case !isPlainName(s.Name):
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

// isPlainName reports whether a field name needs no quotes in a path.
func isPlainName(s string) bool {
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

// Label returns the name of the item in a list of names: the member of a set, or the list-map keys with their values.
func (s Step) Label() string {
	if s.Form == SetStep {
		return fmt.Sprint(s.Value)
	}
	return joinKeys(s.Keys)
}

func joinKeys(keys []ListKey) string {
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = fmt.Sprintf("%s=%v", k.Name, k.Value)
	}
	return strings.Join(parts, ",")
}

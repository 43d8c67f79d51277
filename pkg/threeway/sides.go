package threeway

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// side is one of old, desired, live and result at one place of an object.
type side struct {
	// value is the normal form with defaults; present is false where the side has no such field.
	value   any
	present bool
	// written is what the manifest says, zero values and nulls included; named is false where it says nothing.
	written any
	named   bool
}

// at gives the side below a field or map key. Whatever stands below a null that a manifest wrote is named by it: absent on purpose.
func (s side) at(name string) side {
	var out side
	if m, ok := s.value.(map[string]any); ok {
		out.value, out.present = m[name], object.Has(m, name)
	}
	switch m := s.written.(type) {
	case map[string]any:
		out.written, out.named = m[name], object.Has(m, name)
	case nil:
		out.named = s.named
	}
	return out
}

// item returns the side at the list item that a step names, or at all items of that name together. The written list has its items
// in the same places.
func (s side) item(step object.Step) side {
	list, _ := s.value.([]any)
	written, _ := s.written.([]any)
	var values, texts []any
	for _, i := range step.Indexes(list) {
		values = append(values, list[i])
		if i < len(written) {
			texts = append(texts, written[i])
		}
	}
	if len(values) == 0 {
		return side{named: s.named && s.written == nil}
	}
	return side{value: object.Together(values), present: true, written: object.Together(texts), named: len(texts) > 0}
}

// shown is the value for people: what the server would leave out, but a manifest wrote, counts as there.
func (s side) shown() side {
	if !s.present && s.named && s.written != nil {
		s.value, s.present = s.written, true
	}
	return s
}

// text prefers what the manifest says over its normal form, for a whole subtree: nobody wants to read its defaults.
func (s side) text(shown any) any {
	if shown != nil && s.named && s.written != nil {
		return s.written
	}
	return shown
}

// same compares two sides as the server would store them.
func (s side) same(o side) bool {
	return s.present == o.present && (!s.present || object.Equal(s.value, o.value))
}

// orNil gives the value, nil where the side is absent: the contract leaves the key out.
func (s side) orNil() any {
	if !s.present {
		return nil
	}
	return s.value
}

// object gives the side's whole object, nil where it is absent.
func (s side) object() map[string]any {
	m, _ := s.value.(map[string]any)
	return m
}

// sides are the four sides at one place, and the last revision's where that is not old.
type sides struct {
	old, desired, live, result, last side
	// again is a second rendering of desired, and desired itself where that made the same. atOnce is one at the same time: it is again
	// unless that was rendered with the clock put forward.
	again, atOnce side
	// leaving tells that Helm's patch takes away what holds the place.
	leaving bool
	// storesNulls tells that a null in a manifest is stored as the zero value each time, as a server-side apply does it; a
	// client-side patch stores it once, at install, and then removes it.
	storesNulls bool
}

func (n sides) at(name string) sides {
	return n.each(func(s side) side { return s.at(name) })
}

func (n sides) item(step object.Step) sides {
	return n.each(func(s side) side { return s.item(step) })
}

func (n sides) each(below func(side) side) sides {
	return sides{
		old: below(n.old), desired: below(n.desired), live: below(n.live), result: below(n.result), last: below(n.last),
		again: below(n.again), atOnce: below(n.atOnce), leaving: n.leaves(), storesNulls: n.storesNulls,
	}
}

// leaves tells whether Helm's patch takes the place away, or what holds it.
func (n sides) leaves() bool { return n.leaving || n.live.present && !n.result.present }

// compared gives the sides that are compared, desired first, since that gives lists their order.
func (n sides) compared() []side {
	return []side{n.desired, n.live, n.old, n.result, n.again, n.atOnce}
}

// managed tells whether a manifest names the place.
func (n sides) managed() bool { return n.old.named || n.desired.named }

// converged tells that Helm wants what is there and leaves it: no finding, whatever old was.
func (n sides) converged() bool { return n.desired.same(n.live) && n.live.same(n.result) }

// maps tells whether every present side is a map, and at least one is.
func (n sides) maps() bool { return every[map[string]any](n) }

// lists tells whether every present side is a list, and at least one is.
func (n sides) lists() bool { return every[[]any](n) }

func every[T any](n sides) bool {
	some := false
	for _, s := range n.compared() {
		if !s.present {
			continue
		}
		if _, ok := s.value.(T); !ok {
			return false
		}
		some = true
	}
	return some
}

// names gives the keys of all sides, sorted.
func (n sides) names() []string {
	set := map[string]bool{}
	for _, s := range n.compared() {
		m, _ := s.value.(map[string]any)
		for k := range m {
			set[k] = true
		}
	}
	return object.SortedKeys(set)
}

// noteByIndex and noteTogether are the remarks on items that their list-map keys do not tell apart.
const (
	noteByIndex  = "items of this list lack their keys, so they are told apart by index"
	noteTogether = "several items of this list share these keys, so they are compared together"
)

// steps returns the steps to the items of all sides, desired's first, and a note where items had to be told apart by index.
func (n sides) steps(rule listRule) (steps []object.Step, note string) {
	seen := map[string]bool{}
	for _, s := range n.compared() {
		list, _ := s.value.([]any)
		for _, v := range list {
			step, ok := stepTo(v, rule)
			if !ok {
				return n.indexSteps(), noteByIndex
			}
			id := fmt.Sprintf("%#v %#v", step.Keys, step.Value)
			if !seen[id] {
				seen[id] = true
				steps = append(steps, step)
			}
		}
	}
	return steps, ""
}

// holdsSeveral reports whether any side has several items of the name that a step has.
func (n sides) holdsSeveral(step object.Step) bool {
	return step.Form != object.IndexStep && slices.ContainsFunc(n.compared(), func(s side) bool {
		_, several := s.value.([]any)
		return several
	})
}

func (n sides) indexSteps() []object.Step {
	longest := 0
	for _, s := range n.compared() {
		list, _ := s.value.([]any)
		longest = max(longest, len(list))
	}
	steps := make([]object.Step, longest)
	for i := range steps {
		steps[i] = object.Step{Form: object.IndexStep, Index: i}
	}
	return steps
}

// stepTo names a list item by its keys, or as a member of a set; false where it cannot be named.
func stepTo(item any, rule listRule) (object.Step, bool) {
	if rule.set {
		return object.Step{Form: object.SetStep, Value: item}, object.IsScalar(item)
	}
	m, ok := item.(map[string]any)
	if !ok {
		return object.Step{}, false
	}
	step := object.Step{Form: object.KeyStep}
	for _, name := range rule.keys {
		v, ok := m[name]
		if !ok || !object.IsScalar(v) {
			return object.Step{}, false
		}
		step.Keys = append(step.Keys, object.ListKey{Name: name, Value: v})
	}
	return step, len(step.Keys) > 0
}

package repair

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// repaired gives the repaired object: a copy of live in which the changes, and nothing else, are made. Items that are missing come
// after those that get their names back, beside which they have their places. Changes that concern an order come last.
func (o *ObjectPlan) repaired(live map[string]any, changes []Change) (map[string]any, error) {
	out, _ := clone(live).(map[string]any)
	var missing []Change
	for _, c := range changes {
		var err error
		switch c.kind {
		case putValue, putWhole, prune:
			if c.From == nil {
				missing = append(missing, c)
				continue
			}
			err = o.put(out, c)
		case putName:
			err = o.rename(out, c)
		case otherName, putOrder:
		}
		if err != nil {
			return nil, err
		}
	}
	for _, c := range missing {
		if err := o.put(out, c); err != nil {
			return nil, err
		}
	}
	for _, c := range changes {
		if c.kind == putOrder {
			o.reorder(out, c.Path)
		}
	}
	return out, nil
}

// put sets or takes away the value of one change.
func (o *ObjectPlan) put(object map[string]any, c Change) error {
	tokens, there := o.source.Locate(object, c.Path)
	switch {
	case len(c.Path) == 0:
		return fmt.Errorf("the whole object cannot be put back")
	case there && c.To == nil:
		without(object, tokens)
	case there:
		edited(object, tokens, func(any) any { return clone(c.To) })
	case c.To != nil:
		return o.add(object, c.Path, clone(c.To))
	}
	return nil
}

// add brings a value to a place that the object lacks, together with what holds it.
func (o *ObjectPlan) add(object map[string]any, path threeway.Path, value any) error {
	n := len(path) - 1
	tokens, there := o.source.Locate(object, path[:n])
	for !there && n > 0 {
		n--
		tokens, there = o.source.Locate(object, path[:n])
	}
	for i := len(path) - 1; i > n; i-- {
		value = holding(path[i], value)
	}
	var err error
	edited(object, tokens, func(holder any) any {
		var out any
		out, err = o.added(object, holder, path[:n], path[n], value)
		return out
	})
	return err
}

// holding is a map or list that holds nothing but one value, at a step.
func holding(step threeway.Step, value any) any {
	if step.Form == threeway.FieldStep {
		return map[string]any{step.Name: value}
	}
	return []any{keyed(step, value)}
}

// keyed is an item of a list with the keys that name it.
func keyed(step threeway.Step, item any) any {
	if m, ok := item.(map[string]any); ok {
		for _, key := range step.Keys {
			if m[key.Name] == nil {
				m[key.Name] = key.Value
			}
		}
	}
	return item
}

// added puts a value into what holds it.
func (o *ObjectPlan) added(object map[string]any, holder any, at threeway.Path, step threeway.Step, value any) (any, error) {
	switch h := holder.(type) {
	case nil:
		return holding(step, value), nil
	case map[string]any:
		if step.Form == threeway.FieldStep {
			h[step.Name] = value
			return h, nil
		}
	case []any:
		if step.Form != threeway.FieldStep {
			return slices.Insert(h, o.placeFor(object, at, step, len(h)), value), nil
		}
	}
	return holder, fmt.Errorf("%s is of another type now", at)
}

// placeFor is where a missing item of a list belongs: right after the item that comes before it in the manifest, as far as that is
// there, else right before the one that comes after it, else at the end. Appended without need, it would be moved by the next
// upgrade, which puts the items that it knows into the manifest's order.
func (o *ObjectPlan) placeFor(object map[string]any, list threeway.Path, step threeway.Step, end int) int {
	there, wanted := o.names(o.source.Normal(object), list), o.names(o.source.Declared(), list)
	own := slices.Index(wanted, nameOf(step))
	for i := own - 1; i >= 0; i-- {
		if at := slices.Index(there, wanted[i]); at >= 0 {
			return min(at+1, end)
		}
	}
	for i := own + 1; own >= 0 && i < len(wanted); i++ {
		if at := slices.Index(there, wanted[i]); at >= 0 {
			return min(at, end)
		}
	}
	return end
}

// names are the names of the items of a list in a normal form. An item without a name has an empty one.
func (o *ObjectPlan) names(normal map[string]any, list threeway.Path) []string {
	v, _ := list.Lookup(normal)
	items, _ := v.([]any)
	out := make([]string, len(items))
	for i, item := range items {
		if step, ok := o.source.StepTo(list, item); ok {
			out[i] = nameOf(step)
		}
	}
	return out
}

// nameOf tells steps into one list apart.
func nameOf(step threeway.Step) string { return fmt.Sprintf("%#v %#v", step.Keys, step.Value) }

// order gives the names of those items of a list that old names, in the order that they have in a text.
func (o *ObjectPlan) order(text map[string]any, list threeway.Path) []any {
	v, _ := list.Lookup(o.source.Normal(text))
	items, _ := v.([]any)
	wanted := o.names(o.source.Declared(), list)
	out := []any{}
	for _, item := range items {
		if step, ok := o.source.StepTo(list, item); ok && slices.Contains(wanted, nameOf(step)) {
			out = append(out, threeway.Path{step}.String())
		}
	}
	return out
}

// reorder gives the items of a list that old names the order that they have there, among the places that they hold.
func (o *ObjectPlan) reorder(object map[string]any, list threeway.Path) {
	tokens, ok := o.source.Locate(object, list)
	items, isList := valueAt(object, tokens).([]any)
	names := o.names(o.source.Normal(object), list)
	if !ok || !isList || len(names) != len(items) {
		return
	}
	var places []int
	for i, name := range names {
		if name != "" && slices.Contains(o.names(o.source.Declared(), list), name) {
			places = append(places, i)
		}
	}
	out, next := slices.Clone(items), 0
	for _, name := range o.names(o.source.Declared(), list) {
		if from := slices.Index(names, name); name != "" && from >= 0 && next < len(places) {
			out[places[next]] = items[from]
			next++
		}
	}
	edited(object, tokens, func(any) any { return out })
}

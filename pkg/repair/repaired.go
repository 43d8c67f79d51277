package repair

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// repaired returns the repaired object: a copy of live with the changes and nothing else. It adds missing items after it has renamed
// items, because their places depend on the names around them. Orders come last.
func (o *ObjectPlan) repaired(live map[string]any, changes []Change) (map[string]any, error) {
	out, _ := object.Copy(live).(map[string]any) // the plan needs live as it was
	kept := o.source.Keep(out)
	defer kept.Done()
	var missing []Change
	for _, c := range changes {
		var err error
		switch c.kind {
		case putValue, putAtomic, prune:
			if c.From == nil {
				missing = append(missing, c)
				continue
			}
			err = o.put(out, c, kept)
		case putName:
			err = o.rename(out, c)
			kept.Changed()
		case dropName, putOrder, putOwner: // the rename does the first, the end of this function the second, HandOver the third
		}
		if err != nil {
			return nil, err
		}
	}
	for _, c := range missing {
		if err := o.put(out, c, kept); err != nil {
			return nil, err
		}
	}
	for _, c := range changes {
		if c.kind == putOrder {
			o.reorder(out, c.Path)
			kept.Changed()
		}
	}
	return out, nil
}

// put sets or removes the value of one change in an object that is kept.
func (o *ObjectPlan) put(obj map[string]any, c Change, kept *threeway.Kept) error {
	if len(c.Path) == 0 {
		return fmt.Errorf("the whole object cannot be put back")
	}
	if _, hasHolder := o.source.Locate(obj, c.Path[:len(c.Path)-1]); !hasHolder || !isPlain(c) {
		defer kept.Changed()
	}
	pointer, there := o.source.Locate(obj, c.Path)
	switch {
	case areDuplicates(c.Path, c.From, c.To): // one step stands for several items, so it has no pointer
		return o.putDuplicates(obj, c.Path, c.To)
	case there && c.To == nil:
		pointer.Remove(obj)
	case there:
		pointer.Edit(obj, func(any) any { return object.Copy(c.To) })
	case c.To != nil:
		return o.add(obj, c.Path, object.Copy(c.To))
	}
	return nil
}

// isPlain reports whether a change puts or removes a text or a number in a field. All other paths then lead where they led before.
func isPlain(c Change) bool {
	isLeaf := func(v any) bool { return v == nil || object.IsScalar(v) }
	return c.Path[len(c.Path)-1].Form == object.FieldStep && isLeaf(c.From) && isLeaf(c.To)
}

// rename gives an item of a list its old keys back. It removes the defaults that depend on the edited keys, so that the API sets them
// again.
func (o *ObjectPlan) rename(obj map[string]any, c Change) error {
	pointer, there := o.source.Locate(obj, c.livePath)
	value, _ := pointer.Lookup(obj)
	item, isMap := value.(map[string]any)
	if !there || !isMap {
		return fmt.Errorf("%s is not an item of its list", c.livePath)
	}
	v, _ := c.Path.Lookup(o.source.Declared())
	old, _ := v.(map[string]any)
	for name, value := range item {
		allocated, defaulted := o.source.Filled(c.livePath.Field(name))
		if defaulted && !allocated && !o.source.Named(c.Path.Field(name)) && !object.Equal(value, old[name]) {
			delete(item, name)
		}
	}
	for _, key := range c.Path[len(c.Path)-1].Keys {
		if !object.Equal(item[key.Name], key.Value) {
			item[key.Name] = key.Value
		}
	}
	return nil
}

// add sets a value at a path that the object lacks, and creates the maps and lists that hold it.
func (o *ObjectPlan) add(object map[string]any, path object.Path, value any) error {
	n := len(path) - 1
	pointer, there := o.source.Locate(object, path[:n])
	for !there && n > 0 {
		n--
		pointer, there = o.source.Locate(object, path[:n])
	}
	for i := len(path) - 1; i > n; i-- { // from the inside out, up to what the object has
		value = wrap(path[i], value)
	}
	var err error
	pointer.Edit(object, func(holder any) any {
		var out any
		out, err = o.insert(object, holder, path[:n], path[n], value)
		return out
	})
	return err
}

// wrap returns a map or list with one value in it, at a step.
func wrap(step object.Step, value any) any {
	if step.Form == object.FieldStep {
		return map[string]any{step.Name: value}
	}
	return []any{withKeys(step, value)}
}

// withKeys adds to an item of a list the keys that name it.
func withKeys(step object.Step, item any) any {
	if m, ok := item.(map[string]any); ok {
		for _, key := range step.Keys {
			if m[key.Name] == nil {
				m[key.Name] = key.Value
			}
		}
	}
	return item
}

// insert adds a value to the map or list that holds it.
func (o *ObjectPlan) insert(obj map[string]any, holder any, at object.Path, step object.Step, value any) (any, error) {
	switch h := holder.(type) {
	case nil:
		return wrap(step, value), nil
	case map[string]any:
		if step.Form == object.FieldStep {
			h[step.Name] = value
			return h, nil
		}
	case []any:
		if step.Form != object.FieldStep {
			return slices.Insert(h, o.insertIndex(obj, at, step, len(h)), value), nil
		}
	}
	return holder, fmt.Errorf("%s has another type now", at)
}

// areDuplicates reports whether one of some values at a path is the list of several items that share one name.
func areDuplicates(path object.Path, values ...any) bool {
	isList := func(v any) bool { _, yes := v.([]any); return yes }
	return path[len(path)-1].Form != object.FieldStep && slices.ContainsFunc(values, isList)
}

// putDuplicates puts back the list items of old's manifest that share a name. Such items have the same path, so they are put back
// together. An item that live already has stays as and where it is; the others get the remaining places, and surplus items are removed.
func (o *ObjectPlan) putDuplicates(obj map[string]any, path object.Path, to any) error {
	list, step := path[:len(path)-1], path[len(path)-1]
	wanted, several := to.([]any)
	if !several && to != nil {
		wanted = []any{to}
	}
	pointer, there := o.source.Locate(obj, list)
	value, _ := pointer.Lookup(obj)
	items, isList := value.([]any)
	switch {
	case !there:
		return o.add(obj, list, object.Copy(wanted))
	case !isList:
		return fmt.Errorf("%s has another type now", list)
	}
	own := o.indexes(obj, list, step)
	placed, rest := o.assignDuplicates(obj, path, own, wanted)
	out, end := []any{}, o.insertIndex(obj, list, step, len(items))
	if len(own) > 0 {
		end = own[len(own)-1] + 1
	}
	for i := range len(items) + 1 { // one more than there are items, because the rest may belong at the end
		if i == end {
			out = append(out, rest...)
		}
		switch item, stays := placed[i]; {
		case i == len(items):
		case stays:
			out = append(out, item)
		case !slices.Contains(own, i):
			out = append(out, items[i])
		}
	}
	pointer.Edit(obj, func(any) any { return out })
	return nil
}

// indexes returns the indexes of the items that a step names in a list of an object.
func (o *ObjectPlan) indexes(object map[string]any, list object.Path, step object.Step) []int {
	var out []int
	for i, name := range o.names(o.source.Normal(object), list) {
		if name == step.ItemName() {
			out = append(out, i)
		}
	}
	return out
}

// assignDuplicates returns the item for each index of live's items with the same name, in old's order. If that order allows it, an item
// that live already has keeps its index, so that fields that somebody else added to it stay with it. Rest are the items that get no
// index.
func (o *ObjectPlan) assignDuplicates(obj map[string]any, path object.Path, own []int, wanted []any) (placed map[int]any, rest []any) {
	is, _ := o.source.At(obj, path)
	normal, _ := path.Lookup(o.source.Normal(obj))
	old, _ := path.Lookup(o.source.Declared())
	raw, stored, declared := itemsOf(is, len(own)), itemsOf(normal, len(own)), itemsOf(old, len(wanted))
	placed = map[int]any{}
	next := 0
	for i := 0; i < len(own) && next < len(wanted); i++ {
		// Overwrite an item in the wrong place, unless the wanted one comes later and enough places are left until then.
		comesLater := slices.ContainsFunc(stored[i+1:], func(v any) bool { return object.Equal(v, declared[next]) })
		switch spare := len(own) - i - 1; {
		case object.Equal(stored[i], declared[next]):
			placed[own[i]], next = raw[i], next+1
		case !comesLater || spare < len(wanted)-next:
			placed[own[i]], next = object.Copy(wanted[next]), next+1
		}
	}
	for _, item := range wanted[next:] {
		rest = append(rest, object.Copy(item))
	}
	return placed, rest
}

// itemsOf returns the n items that a value for one name in a list stands for.
func itemsOf(v any, n int) []any {
	if items, several := v.([]any); several && len(items) == n {
		return items
	}
	out := make([]any, n)
	if n == 1 {
		out[0] = v
	}
	return out
}

// insertIndex returns where a missing list item belongs: right after the nearest earlier item of the manifest that live has, otherwise
// right before the nearest later one, otherwise at the end. The next upgrade puts the items that it knows into the manifest's order, so it
// would move an item that was simply appended.
func (o *ObjectPlan) insertIndex(object map[string]any, list object.Path, step object.Step, end int) int {
	there, wanted := o.names(o.source.Normal(object), list), o.names(o.source.Declared(), list)
	own := slices.Index(wanted, step.ItemName())
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

// names returns the names of the items of a list in a normal form. An item without a name has an empty one.
func (o *ObjectPlan) names(normal map[string]any, list object.Path) []string {
	v, _ := list.Lookup(normal)
	items, _ := v.([]any)
	out := make([]string, len(items))
	for i, item := range items {
		if step, ok := o.source.StepTo(list, item); ok {
			out[i] = step.ItemName()
		}
	}
	return out
}

// order returns the names of the list items that old names, in their order in a text.
func (o *ObjectPlan) order(text map[string]any, list object.Path) []any {
	v, _ := list.Lookup(o.source.Normal(text))
	items, _ := v.([]any)
	wanted := o.names(o.source.Declared(), list)
	out := []any{}
	for _, item := range items {
		if step, ok := o.source.StepTo(list, item); ok && slices.Contains(wanted, step.ItemName()) {
			out = append(out, object.Path{step}.String())
		}
	}
	return out
}

// reorder puts the list items that old names into old's order. Together they keep the places that they have, and items that old does
// not name stay where they are. If live has more items of one name than old, the order means nothing and the list stays as it is.
func (o *ObjectPlan) reorder(obj map[string]any, list object.Path) {
	pointer, ok := o.source.Locate(obj, list)
	value, _ := pointer.Lookup(obj)
	items, isList := value.([]any)
	names, declared := o.names(o.source.Normal(obj), list), o.names(o.source.Declared(), list)
	if !ok || !isList || len(names) != len(items) {
		return
	}
	var places []int
	for i, name := range names {
		if name != "" && slices.Contains(declared, name) {
			places = append(places, i)
		}
	}
	var ordered []any
	taken := make([]bool, len(items))
	for _, name := range declared {
		for i := range names {
			if names[i] == name && name != "" && !taken[i] {
				ordered, taken[i] = append(ordered, items[i]), true
				break
			}
		}
	}
	if len(places) != len(ordered) {
		return
	}
	out := slices.Clone(items)
	for i, place := range places {
		out[place] = ordered[i]
	}
	pointer.Edit(obj, func(any) any { return out })
}

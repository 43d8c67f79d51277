package repair

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// checkPatch sends the plan for one object, and checks everything that a repair promises.
func (w *site) checkPatch(o *ObjectPlan) {
	w.t.Helper()
	live := w.live[o.Ref]
	before := fmt.Sprint(live)
	body, err := o.Patch(live)
	if err != nil {
		w.t.Errorf("%s: %v", o.Ref.Key, err)
		return
	}
	if fmt.Sprint(live) != before {
		w.t.Errorf("%s: making the patch has changed live", o.Ref.Key)
	}
	if body == nil {
		if slices.ContainsFunc(o.Changes, func(c Change) bool { return c.kind != putOwner }) {
			w.t.Errorf("%s: no patch for %v", o.Ref.Key, paths(o.Changes))
		}
		return
	}
	after := patched(w.t, live, body)
	wanted, err := o.repaired(live, o.Changes)
	if err != nil || !object.Equal(after, wanted) {
		w.t.Errorf("%s: the patch makes\n%v\nand not (%v)\n%v", o.Ref.Key, after, err, wanted)
	}
	w.checkOutside(o, live, after)
	w.checkDone(o, after)
	w.checkStale(o, live)
}

// checkOutside checks that only what is planned differs.
func (w *site) checkOutside(o *ObjectPlan, live, after map[string]any) {
	w.t.Helper()
	for _, path := range differing(o.source, nil, live, after) {
		if !slices.ContainsFunc(o.Changes, func(c Change) bool { return isPlannedPlace(c.Path, path) }) {
			w.t.Errorf("%s: the patch changes %s, which is not planned: %v", o.Ref.Key, path, paths(o.Changes))
		}
	}
}

// isPlannedPlace reports whether a place is at a planned path, or below it. A planned path may lead through maps that do not exist.
func isPlannedPlace(planned, place object.Path) bool { return planned.Overlaps(place) }

// checkDone checks that after the patch, live shows no drift at the planned places, and that there is nothing more to patch.
func (w *site) checkDone(o *ObjectPlan, after map[string]any) {
	w.t.Helper()
	stored := w.served(o.compared.Object, after)
	for _, f := range object.Filter(o.source.Findings(stored), threeway.Finding.Drifted) {
		if !o.isOwnership(f, stored) && slices.ContainsFunc(o.Changes, func(c Change) bool { return c.Path.Overlaps(f.Path) }) {
			w.t.Errorf("%s: %s has still drifted: %v, %v", o.Ref.Key, f.Path, f.Old, f.Live)
		}
	}
	for _, object := range []map[string]any{after, stored} {
		if again, err := o.Patch(object); again != nil || err != nil {
			w.t.Errorf("%s: of the patched object there is another patch: %s %v", o.Ref.Key, again, err)
		}
	}
}

// checkStale checks that there is no patch if a planned field is neither as it was nor as it will be.
func (w *site) checkStale(o *ObjectPlan, live map[string]any) {
	w.t.Helper()
	for _, c := range o.Changes {
		pointer, ok := o.source.Locate(live, c.Path)
		if !ok || c.kind == putOrder {
			continue
		}
		elsewhere, _ := object.Copy(live).(map[string]any)
		pointer.Edit(elsewhere, otherValue)
		if is, there := o.rawAt(elsewhere, c.Path); there && object.Equal(is, c.From) || object.Equal(elsewhere, live) {
			continue
		}
		restored := func(f threeway.Finding) bool { return f.Path.Overlaps(c.Path) }
		if !slices.ContainsFunc(object.Filter(o.source.Findings(elsewhere), threeway.Finding.Drifted), restored) {
			continue // it has moved to where it belongs
		}
		body, err := o.Patch(elsewhere)
		var moved *StaleError
		if !asMoved(err, &moved) || body != nil {
			w.t.Errorf("%s: %s has moved, and yet: %s %v", o.Ref.Key, c.Path, body, err)
		} else if c.kind != dropName && (!slices.Contains(moved.Fields, c.ID) || !strings.Contains(moved.Reason, c.Path.String())) {
			w.t.Errorf("%s: %s has moved, and the error is %v %v", o.Ref.Key, c.Path, moved, moved.Fields)
		}
	}
}

func asMoved(err error, moved **StaleError) bool {
	m, ok := err.(*StaleError)
	*moved = m
	return ok
}

// otherValue makes another value of the same type.
func otherValue(v any) any {
	switch v := v.(type) {
	case string:
		return "bW92ZWQ="
	case int64:
		return v + 17
	case bool:
		return !v
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			v[name] = otherValue(v[name])
			return v
		}
	case []any:
		if len(v) > 0 {
			v[0] = otherValue(v[0])
		}
	}
	return v
}

func paths(changes []Change) []string {
	var out []string
	for _, c := range changes {
		out = append(out, c.Path.String())
	}
	return out
}

// differing lists the places where two texts differ. It matches items of keyed lists by their keys; if the common items differ in
// order, the list itself differs.
func differing(source *threeway.Repairable, path object.Path, a, b any) []object.Path {
	if object.Equal(a, b) {
		return nil
	}
	var out []object.Path
	left, isMap := a.(map[string]any)
	right, alsoMap := b.(map[string]any)
	if isMap && alsoMap {
		for _, name := range object.AllKeys(left, right) {
			before, had := left[name]
			after, has := right[name]
			switch at := path.Field(name); {
			case had && has:
				out = append(out, differing(source, at, before, after)...)
			case had:
				out = append(out, leavesOf(at, before)...)
			default:
				out = append(out, leavesOf(at, after)...)
			}
		}
		return out
	}
	was, isList := a.([]any)
	is, alsoList := b.([]any)
	if !isList || !alsoList {
		return []object.Path{path}
	}
	return differingItems(source, path, was, is)
}

// leavesOf lists the leaves of a value, so that an added or removed map counts by its content.
func leavesOf(path object.Path, v any) []object.Path {
	m, ok := v.(map[string]any)
	if !ok || len(m) == 0 {
		return []object.Path{path}
	}
	var out []object.Path
	for _, name := range object.SortedKeys(m) {
		out = append(out, leavesOf(path.Field(name), m[name])...)
	}
	return out
}

func differingItems(source *threeway.Repairable, path object.Path, was, is []any) []object.Path {
	before, beforeOK := itemsByName(source, path, was)
	after, afterOK := itemsByName(source, path, is)
	if !beforeOK || !afterOK {
		return []object.Path{path}
	}
	var out []object.Path
	var shared [2][]string
	for _, item := range before {
		if other := find(after, item.name); other != nil {
			shared[0] = append(shared[0], item.name)
			out = append(out, differing(source, item.path, item.value, other.value)...)
		} else {
			out = append(out, item.path)
		}
	}
	for _, item := range after {
		if find(before, item.name) == nil {
			out = append(out, item.path)
		} else {
			shared[1] = append(shared[1], item.name)
		}
	}
	if !slices.Equal(shared[0], shared[1]) {
		out = append(out, path)
	}
	return out
}

type namedItem struct {
	name  string
	path  object.Path
	value any
}

func itemsByName(source *threeway.Repairable, path object.Path, list []any) ([]namedItem, bool) {
	var out []namedItem
	for _, v := range list {
		step, ok := source.StepTo(path, v)
		if !ok || find(out, step.ItemName()) != nil {
			return nil, false
		}
		out = append(out, namedItem{step.ItemName(), append(slices.Clone(path), step), v})
	}
	return out, true
}

func find(items []namedItem, name string) *namedItem {
	for i := range items {
		if items[i].name == name {
			return &items[i]
		}
	}
	return nil
}

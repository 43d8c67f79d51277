package repair

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// operation is one operation of a JSON patch (RFC 6902).
type operation struct {
	Op, Path string
	Value    any
}

// MarshalJSON omits the value of a removal. Every other operation has one, because it may be a test against null.
func (op operation) MarshalJSON() ([]byte, error) {
	out := map[string]any{"op": op.Op, "path": op.Path}
	if op.Op != "remove" {
		out["value"] = op.Value
	}
	return json.Marshal(out)
}

// Patch returns the JSON patch from live to the repaired object, with tests before every operation. Live may be newer than the plan: if a
// planned field is no longer what the plan saw, the error is a *StaleError. The patch is nil if everything is already as planned.
func (o *ObjectPlan) Patch(live map[string]any) ([]byte, error) {
	ops, err := o.operations(live)
	if err != nil || len(ops) == 0 {
		return nil, err
	}
	return json.Marshal(ops)
}

// operations returns the operations of Patch, the test of the uid first.
func (o *ObjectPlan) operations(live map[string]any) ([]operation, error) {
	if o.source == nil || len(o.Changes) == 0 {
		return nil, nil
	}
	if stale := o.staleObject(live); stale != nil {
		return nil, stale
	}
	defer o.source.Keep(live).Done()
	open, err := o.pending(live)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	after, err := o.repaired(live, open)
	if err != nil {
		return nil, fmt.Errorf("putting back %s: %w", o.Ref.Key, err)
	}
	p := patcher{source: o.source, atomic: o.atomicPointers(live, open)}
	p.walk(nil, nil, live, after)
	if len(p.ops) == 0 {
		return nil, nil
	}
	return slices.Concat([]operation{testUID(live)}, o.testOwner(live), p.ops), nil
}

// pending returns the changes that are still to be made.
func (o *ObjectPlan) pending(live map[string]any) ([]Change, error) {
	var open, changed []Change
	found := o.source.Findings(live)
	ignored := object.Filter(found, isIgnored)
	for _, c := range o.Changes {
		switch o.stateOf(c, live, found, ignored) {
		case pending:
			open = append(open, c)
		case stale:
			changed = append(changed, c)
		case done:
		}
	}
	if len(changed) > 0 {
		return nil, staleFields(changed) // one patch writes the object, so one stale field stops all of it
	}
	return open, nil
}

// atomicPointers are the pointers to maps that are replaced as one value.
func (o *ObjectPlan) atomicPointers(live map[string]any, changes []Change) []string {
	var out []string
	for _, c := range changes {
		if pointer, ok := o.source.Locate(live, c.Path); ok && c.kind == putAtomic {
			out = append(out, pointer.String())
		}
	}
	return out
}

// testUID begins every patch: a name can be used again by another object.
func testUID(live map[string]any) operation {
	return operation{"test", "/metadata/uid", object.Child(live, "metadata")["uid"]}
}

// testOwner returns the tests that an object outside of the release's namespace still belongs to the release. A patch of any other object
// does not need them: it writes what the manifest names.
func (o *ObjectPlan) testOwner(live map[string]any) []operation {
	if o.Ref.Namespace == o.release.Namespace {
		return nil
	}
	annotations := object.Child(object.Child(live, "metadata"), "annotations")
	var out []operation
	for _, name := range []string{object.ReleaseNameAnnotation, object.ReleaseNamespaceAnnotation} {
		out = append(out, operation{"test", object.Pointer{"metadata", "annotations", name}.String(), annotations[name]})
	}
	return out
}

// patcher collects the operations that lead from one text to another.
type patcher struct {
	source *threeway.Repairable
	atomic []string
	ops    []operation
}

// walk compares a place that both texts have. It goes into maps, and into lists whose items have the same list-map keys, so that the
// patch touches nothing except the change. It replaces everything else as one value.
func (p *patcher) walk(pointer object.Pointer, path object.Path, was, is any) {
	if object.Equal(was, is) {
		return
	}
	left, isMap := was.(map[string]any)
	right, alsoMap := is.(map[string]any)
	if isMap && alsoMap && !slices.Contains(p.atomic, pointer.String()) {
		p.walkMap(pointer, path, left, right)
		return
	}
	if keys, same := p.sameItems(path, was, is); same {
		p.walkItems(pointer, path, keys, was, is)
		return
	}
	p.change("replace", pointer, was, is) // scalars, types that differ, and lists without keys
}

func (p *patcher) walkMap(pointer object.Pointer, path object.Path, was, is map[string]any) {
	for _, name := range object.AllKeys(was, is) {
		before, had := was[name]
		after, has := is[name]
		at := append(slices.Clip(pointer), name)
		switch {
		case had && has:
			p.walk(at, path.Field(name), before, after)
		case has:
			p.change("add", at, nil, after)
		default:
			p.change("remove", at, before, nil)
		}
	}
}

// sameItems reports whether two values are lists of the same items at the same indexes, and returns the keys that identify the items. If
// an item is added, removed or moved, the indexes of the others mean something else, so the list is tested and replaced as one value.
func (p *patcher) sameItems(path object.Path, was, is any) ([]string, bool) {
	left, isList := was.([]any)
	right, alsoList := is.([]any)
	keys := p.source.Keys(path)
	if !isList || !alsoList || len(keys) == 0 || len(left) != len(right) {
		return nil, false
	}
	for i := range left {
		before, isMap := left[i].(map[string]any)
		after, alsoMap := right[i].(map[string]any)
		differs := func(key string) bool { return !object.Equal(before[key], after[key]) }
		if !isMap || !alsoMap || slices.ContainsFunc(keys, differs) {
			return nil, false
		}
	}
	return keys, true
}

// walkItems goes into the items that differ. An index alone does not identify an item, so it tests all keys of the item.
func (p *patcher) walkItems(pointer object.Pointer, path object.Path, keys []string, was, is any) {
	left, _ := was.([]any)
	right, _ := is.([]any)
	for i := range left {
		if object.Equal(left[i], right[i]) {
			continue
		}
		item, _ := left[i].(map[string]any)
		at := append(slices.Clip(pointer), strconv.Itoa(i))
		for _, key := range keys {
			p.ops = append(p.ops, operation{"test", append(slices.Clip(at), key).String(), item[key]})
		}
		p.walk(at, path.Index(i), left[i], right[i])
	}
}

// change tests the value at a place, null if there is none, and changes it.
func (p *patcher) change(op string, pointer object.Pointer, was, is any) {
	at := pointer.String()
	p.ops = append(p.ops, operation{"test", at, was}, operation{op, at, is})
}

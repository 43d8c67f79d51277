package kustomize

import (
	"slices"
	"strconv"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
)

// operation is one operation of a JSON patch. A removal has no value.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value *any   `json:"value,omitempty"`
}

// jsonPatch builds a JSON patch. The tests come first, and see the object of the manifest. Each change sees the result of earlier ones.
type jsonPatch struct {
	manifest, now  place
	tests, changes []operation
}

// JSON returns the changes of an object as a JSON patch (RFC 6902), or false if such a patch cannot express them.
func JSON(t Target, changes []Change) (absorption.KustomizePatch, bool) {
	p := &jsonPatch{
		manifest: place{t.Text, t.Normal, t.Live},
		now:      place{object.Copy(t.Text), object.Copy(t.Normal), t.Live},
	}
	for _, c := range changes {
		if len(c.Path) == 0 || !p.add(c) {
			return absorption.KustomizePatch{}, false
		}
	}
	return t.patch(slices.Concat(p.tests, p.changes))
}

// add adds the operations of a change.
func (p *jsonPatch) add(c Change) bool {
	p.testItems(c.Path)
	at, holder, missing := p.now.follow(c.Path)
	switch {
	case len(missing) == 0 && c.Present:
		p.change("replace", at, c.Live)
	case len(missing) == 0:
		p.change("remove", at, nil)
	case !c.Present:
		return false // neither the manifest nor live has the field: they differ in a default, and no patch removes that
	default:
		// Add the missing maps and lists around the field too.
		value, ok := wrapped(missing[1:], c.Live)
		if !ok {
			return false
		}
		p.change("add", append(at, holder.token(missing[0])), value)
	}
	return true
}

// follow follows a path as far as the text has it. It returns the pointer of the last place, the place, and the steps that are missing.
func (p place) follow(path object.Path) (object.Pointer, place, object.Path) {
	var pointer object.Pointer
	for i, step := range path {
		next, token := p.item(step), ""
		if step.Form == object.FieldStep {
			next, token = p.field(step.Name), step.Name
		} else if normal, _ := p.normal.([]any); next.text != nil {
			token = strconv.Itoa(step.Indexes(normal)[0])
		}
		if _, found := (object.Pointer{token}).Lookup(p.text); !found {
			return pointer, p, path[i:]
		}
		pointer, p = append(pointer, token), next
	}
	return pointer, p, nil
}

// token returns the last token of the pointer that adds a step.
func (p place) token(s object.Step) string {
	if s.Form == object.FieldStep {
		return s.Name
	}
	list, _ := p.text.([]any)
	if i := p.position(s); i < len(list) {
		return strconv.Itoa(i)
	}
	return "-"
}

// testItems adds tests of the items on a path, so that the indexes lead to the right ones. A test compares the keys, or the whole item.
func (p *jsonPatch) testItems(path object.Path) {
	for n := range path {
		s := path[n]
		if s.Form == object.FieldStep {
			continue
		}
		at, item, missing := p.manifest.follow(path[:n+1])
		if len(missing) > 0 {
			return
		}
		if s.Form != object.KeyStep {
			p.test(at, item.text)
			continue
		}
		keys := keysOf(s, item.text)
		for _, name := range object.SortedKeys(keys) {
			p.test(append(slices.Clip(at), name), keys[name])
		}
	}
}

// test adds a test that is not there yet.
func (p *jsonPatch) test(at object.Pointer, value any) {
	if !slices.ContainsFunc(p.tests, func(o operation) bool { return o.Path == at.String() }) {
		p.tests = append(p.tests, operation{"test", at.String(), &value})
	}
}

// change adds an operation and applies it.
func (p *jsonPatch) change(op string, at object.Pointer, value any) {
	one := operation{Op: op, Path: at.String()}
	if op != "remove" {
		one.Value = &value
	}
	p.changes = append(p.changes, one)
	p.now.text, p.now.normal = edited(p.now.text, op, at, value), edited(p.now.normal, op, at, value)
}

// edited returns a value after an operation.
func edited(root any, op string, at object.Pointer, value any) any {
	last := len(at) - 1
	switch op {
	case "remove":
		return at.Remove(root)
	case "replace":
		return at.Edit(root, func(any) any { return object.Copy(value) })
	}
	return at[:last].Edit(root, func(holder any) any {
		switch holder := holder.(type) {
		case map[string]any:
			holder[at[last]] = object.Copy(value)
		case []any:
			i, err := strconv.Atoi(at[last])
			if err != nil {
				i = len(holder)
			}
			return slices.Insert(holder, min(i, len(holder)), object.Copy(value))
		}
		return holder
	})
}

// wrapped returns a value inside the maps and lists of its path, or false if a step names an item by its index.
func wrapped(path object.Path, value any) (any, bool) {
	for _, step := range slices.Backward(path) {
		switch step.Form {
		case object.FieldStep:
			value = map[string]any{step.Name: value}
		case object.KeyStep, object.SetStep:
			value = []any{value}
		case object.IndexStep:
			return nil, false
		}
	}
	return value, true
}

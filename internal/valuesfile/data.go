package valuesfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// change is a minimal change of the text, so that everything that stays equal keeps its comments, anchors and quotes.
type change struct {
	path []any
	kind changeKind
	// value is the new value, and after is the whole document with it.
	value any
	after any
}

// changeKind says what a change does with its place.
type changeKind int

const (
	set changeKind = iota // also adds a key, or an item at the end
	remove
	insert
)

// plan makes an edit on the data. It returns the edited data, and the smallest changes that lead to it. The data decides what the edits
// mean, and the text is checked against it.
func (e Edit) plan(root any) (after any, changes []change, err error) {
	if len(e.Path) == 0 {
		return nil, nil, errors.New("the path is empty")
	}
	kind, value := set, any(nil)
	switch {
	case e.Remove && e.Insert:
		return nil, nil, errors.New("an edit cannot both remove and insert")
	case e.Remove:
		kind = remove
	case e.Insert:
		kind = insert
	}
	if kind != remove {
		if value, err = normal(e.Value); err != nil {
			return nil, nil, err
		}
	}
	if after, err = edited(root, e.Path, kind, value); err != nil {
		return nil, nil, err
	}
	if kind == set {
		// A removal and an insertion are one change each; only a value that is set can share parts with the old one.
		p := planner{after: after}
		old, found := ValueAt(root, e.Path)
		p.compare(e.Path, old, found, value)
		return after, p.changes, nil
	}
	return after, []change{{path: e.Path, kind: kind, value: value, after: after}}, nil
}

// planner collects the changes of one edit. The field after of each is the data after the whole edit, because an overridden alias
// needs that.
type planner struct {
	after   any
	changes []change
}

// add adds a change. The changes of an edit are made in their order, so a path refers to the text after the earlier changes.
func (p *planner) add(kind changeKind, path []any, value any) {
	p.changes = append(p.changes, change{path: path, kind: kind, value: value, after: p.after})
}

// compare adds the changes that turn old into value.
func (p *planner) compare(path []any, old any, found bool, value any) {
	if found && object.Equal(old, value) {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		if old, ok := old.(map[string]any); ok && len(value) > 0 && len(old) > 0 {
			p.compareMaps(path, old, value)
			return
		}
	case []any:
		if old, ok := old.([]any); ok && len(value) > 0 && len(old) > 0 {
			p.compareLists(path, old, value)
			return
		}
	}
	p.add(set, path, value)
}

// compareMaps sets keys before it removes others, so that a map is never empty in between.
func (p *planner) compareMaps(path []any, old, value map[string]any) {
	for _, key := range object.SortedKeys(value) {
		before, found := old[key]
		p.compare(below(path, key), before, found, value[key])
	}
	for _, key := range object.SortedKeys(old) {
		if _, stays := value[key]; !stays {
			p.add(remove, below(path, key), nil)
		}
	}
}

// compareLists leaves the equal items at both ends as they are, compares those in between in pairs, and inserts or removes the rest. It
// removes from the end, so that the indexes stay right. An item of a values file has no key, so only its position between the equal ends
// identifies it.
//
// A new item in the middle is one insertion and does not change the items after it:
//
//	old    a b c
//	value  a x b c   ─► insert x at 1
//	value  a y c     ─► set 1 to y
//	value  c         ─► remove 1, then 0
func (p *planner) compareLists(path []any, old, value []any) {
	first, tail := 0, 0
	for first < min(len(old), len(value)) && object.Equal(old[first], value[first]) {
		first++
	}
	for tail < min(len(old), len(value))-first && object.Equal(old[len(old)-1-tail], value[len(value)-1-tail]) {
		tail++
	}
	lastOld, lastNew := len(old)-tail, len(value)-tail
	for i := first; i < min(lastOld, lastNew); i++ {
		p.compare(below(path, i), old[i], true, value[i])
	}
	for i := lastOld; i < lastNew; i++ {
		p.add(insert, below(path, i), value[i])
	}
	for i := lastOld - 1; i >= lastNew; i-- {
		p.add(remove, below(path, i), nil)
	}
}

// ValueAt returns the value at a path in root, or false if root lacks it. A step is a string, the key of a map, or an int, the index of a
// list; so a key is never taken for an index.
func ValueAt(root any, steps []any) (any, bool) {
	for _, step := range steps {
		switch step := step.(type) {
		case string:
			m, _ := root.(map[string]any)
			below, found := m[step]
			if !found {
				return nil, false
			}
			root = below
		case int:
			list, _ := root.([]any)
			if step < 0 || step >= len(list) {
				return nil, false
			}
			root = list[step]
		}
	}
	return root, true
}

// below returns the path with one more step. It shares nothing with path.
func below(path []any, step any) []any { return append(slices.Clone(path), step) }

// edited returns root with one change. It shares everything else with root, because Apply still needs the data before each edit.
func edited(root any, path []any, kind changeKind, value any) (any, error) {
	if len(path) == 0 {
		return value, nil
	}
	switch step := path[0].(type) {
	case string:
		return editedMap(root, step, path[1:], kind, value)
	case int:
		return editedList(root, step, path[1:], kind, value)
	}
	return nil, fmt.Errorf("a path has keys and indexes, not %T", path[0])
}

// editedMap is edited for a path that begins with a key. A null counts as a map without keys.
func editedMap(root any, key string, rest []any, kind changeKind, value any) (any, error) {
	m, ok := root.(map[string]any)
	if !ok && root != nil {
		return nil, fmt.Errorf("the key %q cannot be reached: what has it is %s, not a map", key, typeName(root))
	}
	child, found := m[key]
	switch {
	case len(rest) == 0 && kind == insert:
		return nil, errors.New("only a list can have an item inserted")
	case kind == remove && !found:
		return nil, fmt.Errorf("there is no key %q", key)
	// YAML is UTF-8, and the library would write another character for these bytes.
	case !utf8.ValidString(key):
		return nil, errors.New("the key is not valid UTF-8")
	}
	out := make(map[string]any, len(m)+1)
	maps.Copy(out, m)
	if len(rest) == 0 && kind == remove {
		delete(out, key)
		return out, nil
	}
	var err error
	out[key], err = edited(child, rest, kind, value)
	return out, err
}

// editedList is edited for a path that begins with an index. A null counts as a list without items, and the index after the last item as a
// null item.
func editedList(root any, index int, rest []any, kind changeKind, value any) (any, error) {
	l, ok := root.([]any)
	if !ok && root != nil {
		return nil, fmt.Errorf("the index %d cannot be reached: what has it is %s, not a list", index, typeName(root))
	}
	if index < 0 || index > len(l) || index == len(l) && kind == remove {
		return nil, fmt.Errorf("the index %d is out of range: the length of the list is %d", index, len(l))
	}
	out := slices.Clone(l)
	switch {
	case len(rest) == 0 && kind == remove:
		return slices.Delete(out, index, index+1), nil
	case len(rest) == 0 && kind == insert:
		return slices.Insert(out, index, value), nil
	case index == len(l):
		out = append(out, nil)
	}
	var err error
	out[index], err = edited(out[index], rest, kind, value)
	return out, err
}

// typeName returns the type of a value, for errors that must not quote it. That is enough to find the mistake: the path was meant for a
// file of another shape.
func typeName(v any) string {
	switch v.(type) {
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	}
	return "a number"
}

// nested returns a value that has only v, at a path. A new key often needs maps around it that the file lacks.
func nested(path []any, v any) any {
	for _, step := range slices.Backward(path) {
		if key, ok := step.(string); ok {
			v = map[string]any{key: v}
		} else {
			v = []any{v}
		}
	}
	return v
}

// difference returns the first path where two values differ. That is enough for a message.
func difference(path []any, a, b any) []any {
	am, aMap := a.(map[string]any)
	bm, bMap := b.(map[string]any)
	if aMap && bMap {
		for _, key := range slices.Concat(object.SortedKeys(am), object.SortedKeys(bm)) {
			left, inA := am[key]
			right, inB := bm[key]
			if inA != inB || !object.Equal(left, right) {
				return difference(below(path, key), left, right)
			}
		}
	}
	al, _ := a.([]any)
	bl, _ := b.([]any)
	for i := range min(len(al), len(bl)) {
		if !object.Equal(al[i], bl[i]) {
			return difference(below(path, i), al[i], bl[i])
		}
	}
	return path
}

// normal returns a value in the form that read returns, so that equal values from JSON, from YAML and from Go code compare as equal. It
// refuses what YAML and JSON cannot hold.
func normal(v any) (any, error) {
	if err := checkScalars(v); err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(v)
	if err != nil {
		return nil, errors.New("the value cannot be written as JSON") // the error may quote it
	}
	return decode(encoded)
}

// checkScalars returns an error if reading v back would change it: encoding/json changes what is not UTF-8, and Helm's YAML library reads
// integers beyond 64 bits as floats.
func checkScalars(v any) error {
	switch v := v.(type) {
	case string:
		if !utf8.ValidString(v) {
			return errors.New("the value has a string that is not valid UTF-8")
		}
	case json.Number:
		if i, ok := new(big.Int).SetString(v.String(), 10); ok && !i.IsInt64() && !i.IsUint64() {
			return errors.New("the value has an integer of more than 64 bits")
		}
	case map[string]any:
		for key, item := range v {
			if err := errors.Join(checkScalars(key), checkScalars(item)); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range v {
			if err := checkScalars(item); err != nil {
				return err
			}
		}
	}
	return nil
}

// decode reads JSON. Numbers become int64, json.Number if they are integers up to 64 bits without a sign, or else float64.
func decode(encoded []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(encoded))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return numbers(v)
}

// numbers replaces the numbers of decoded JSON, in place where it can.
func numbers(v any) (_ any, err error) {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			if v[key], err = numbers(item); err != nil {
				return nil, err
			}
		}
	case []any:
		for i, item := range v {
			if v[i], err = numbers(item); err != nil {
				return nil, err
			}
		}
	case json.Number:
		if i, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return i, nil
		}
		if u, err := strconv.ParseUint(v.String(), 10, 64); err == nil {
			return json.Number(strconv.FormatUint(u, 10)), nil
		}
		f, err := v.Float64()
		if err != nil {
			return nil, errors.New("a number is out of range")
		}
		return f, nil
	}
	return v, nil
}

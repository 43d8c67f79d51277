package places

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Layer is one source of values.
type Layer struct {
	// Title names it in messages.
	Title string
	// Place is where the tree has the values. If it is nil, Fault says why they cannot be changed there.
	Place *Place
	Fault string
	// Yields is set if a value that cannot be changed here can be set in the own layer, which then counts.
	Yields bool
	// Built are the values as the controller reads them, and Raw are those of the file.
	Built, Raw map[string]any
}

// Values are the values of all layers. They do not change.
type Values interface {
	// Of returns the values of a layer. If they are not known, they may have any path.
	Of(layer int) (values map[string]any, isKnown bool)
	// With returns the same with other values of one layer.
	With(layer int, values map[string]any) (Values, error)
	// Compose returns what the controller composes of all layers.
	Compose() (map[string]any, error)
}

// Editor changes values in the layers of a working tree.
type Editor struct {
	// Layers are the sources of the values. The first one wins.
	Layers []Layer
	// Own is the number of the layer for a value that no layer has, and OwnName names its field.
	Own     int
	OwnName string
	// Controller names who composes the values, and Otherwise says what can make it read another value than a file has.
	Controller, Otherwise string
	// Values are those before all changes, and Read reads a file of the tree.
	Values Values
	Read   func(file string) ([]byte, error)

	now      Values
	edits    []valuesfile.Edit
	composed map[string]any
	// texts are the files that have changed, and files are those of each edit. original are the texts as they were read first.
	texts    map[string][]byte
	files    [][]string
	original map[string][]byte
}

// Rewrite changes values in the places where they live, and returns the values that the controller then composes, as JSON. It forgets what
// the last call did. The error says which change the tree cannot take, and does not quote values; it wraps a *valuesfile.SharedError if an
// anchor is the reason.
func (k *Editor) Rewrite(edits []valuesfile.Edit) ([]byte, error) {
	k.now, k.edits, k.files, k.texts = k.Values, edits, make([][]string, len(edits)), map[string][]byte{}
	for i, e := range edits {
		values, err := k.now.Compose()
		if err != nil {
			return nil, err
		}
		old, found := valuesfile.ValueAt(values, e.Path)
		for _, part := range parts(e, old, found) {
			if err := k.change(part, i); err != nil {
				return nil, err
			}
		}
	}
	var err error
	if k.composed, err = k.now.Compose(); err != nil {
		return nil, err
	}
	return json.Marshal(k.composed)
}

// parts returns the smallest changes of a map, because its keys may live in different places.
func parts(e valuesfile.Edit, old any, found bool) (out []valuesfile.Edit) {
	before, wasMap := old.(map[string]any)
	after, isMap := e.Value.(map[string]any)
	if e.Remove || !found || !wasMap || !isMap || len(after) == 0 || len(before) == 0 {
		return []valuesfile.Edit{e}
	}
	for _, key := range object.SortedKeys(after) {
		was, found := before[key]
		if !found || !object.Equal(was, after[key]) {
			out = append(out, parts(valuesfile.Edit{Path: append(slices.Clone(e.Path), key), Value: after[key]}, was, found)...)
		}
	}
	for _, key := range object.SortedKeys(before) {
		if _, stays := after[key]; !stays {
			out = append(out, valuesfile.Edit{Path: append(slices.Clone(e.Path), key), Remove: true})
		}
	}
	return out
}

// change makes one change in the place where its value lives, and checks that the controller then composes the values with this change and
// no other. Number is that of its edit.
func (k *Editor) change(e valuesfile.Edit, number int) error {
	values, err := k.now.Compose()
	if err != nil {
		return err
	}
	wanted, err := edited(values, e)
	if err != nil {
		return err
	}
	for {
		at, why, err := k.home(e)
		if err == nil {
			err = k.set(at, e, number)
		}
		if err != nil {
			return err
		}
		if values, err = k.now.Compose(); err != nil {
			return err
		}
		if object.Equal(any(values), any(wanted)) {
			return nil
		}
		if _, stays := valuesfile.ValueAt(values, e.Path); !e.Remove || !stays || !k.isAbove(at, e.Path) {
			if why != "" {
				return fmt.Errorf("%s, and %s does not override it", why, k.OwnName)
			}
			return fmt.Errorf("a change in %s does not make %s compose these values", k.Layers[at].Title, k.Controller)
		}
	}
}

// isAbove reports whether another layer than the changed one has the value as well. It counts once the changed layer lacks the value.
func (k *Editor) isAbove(changed int, path []any) bool {
	for i := range k.Layers {
		if values, _ := k.now.Of(i); i != changed && has(values, path) {
			return true
		}
	}
	return false
}

// home returns the number of the layer that has a value. A value that none has belongs to the own layer, and so does one that cannot be
// changed where it is, if the own layer overrides it. Then why says where it is.
func (k *Editor) home(e valuesfile.Edit) (at int, why string, err error) {
	own := &k.Layers[k.Own]
	for i := range k.Layers {
		l := &k.Layers[i]
		values, isKnown := k.now.Of(i)
		if !isKnown {
			return 0, "", fmt.Errorf("it may live in %s, and that is not known", l.Title)
		}
		if !has(values, e.Path) {
			continue
		}
		if l.Place != nil {
			return i, "", nil
		}
		why = fmt.Sprintf("it lives in %s: %s", l.Title, l.Fault)
		if !l.Yields || e.Remove || own.Place == nil {
			return 0, "", errors.New(why)
		}
		return k.Own, why, nil
	}
	if own.Place == nil {
		return 0, "", fmt.Errorf("it belongs to %s: %s", own.Title, own.Fault)
	}
	return k.Own, "", nil
}

// set makes a change in a layer: in the text of its file, and in its values.
func (k *Editor) set(at int, e valuesfile.Edit, number int) error {
	l := &k.Layers[at]
	if !l.isPlain(e.Path) {
		return fmt.Errorf("%s has another value there than %s applies: %s", l.Place.File, k.Controller, k.Otherwise)
	}
	text, err := k.textOf(l.Place.File)
	if err == nil {
		text, err = l.Place.Apply(text, e)
	}
	if err != nil {
		return err
	}
	values, _ := k.now.Of(at)
	if values, err = edited(values, e); err != nil {
		return err
	}
	if k.now, err = k.now.With(at, values); err != nil {
		return err
	}
	k.texts[l.Place.File] = text
	k.files[number] = append(k.files[number], l.Place.File)
	return nil
}

// textOf returns a file with the changes that were made so far.
func (k *Editor) textOf(file string) ([]byte, error) {
	if text, isChanged := k.texts[file]; isChanged {
		return text, nil
	}
	if text, isRead := k.original[file]; isRead {
		return text, nil
	}
	text, err := k.Read(file)
	if err == nil {
		if k.original == nil {
			k.original = map[string][]byte{}
		}
		k.original[file] = text
	}
	return text, err
}

// Texts returns the files that the last Rewrite changed, by their names.
func (k *Editor) Texts() map[string][]byte { return k.texts }

// Changes returns the files that the last Rewrite changed, in the order of their names.
func (k *Editor) Changes() []files.Change {
	var out []files.Change
	for _, name := range slices.Sorted(maps.Keys(k.texts)) {
		out = append(out, files.Change{Name: filepath.FromSlash(name), Before: k.original[name], After: k.texts[name]})
	}
	return out
}

// has reports whether values have a path, or the list that its last step is an index of.
func has(values map[string]any, path []any) bool {
	if _, found := valuesfile.ValueAt(values, path); found || len(path) == 0 {
		return found
	}
	if _, isIndex := path[len(path)-1].(int); !isIndex {
		return false
	}
	above, _ := valuesfile.ValueAt(values, path[:len(path)-1])
	_, isList := above.([]any)
	return isList
}

// isPlain reports whether a file has the same value at a path as what the controller reads, so that nothing in between changes it.
func (l *Layer) isPlain(path []any) bool {
	if n := len(path); n > 0 {
		if _, isIndex := path[n-1].(int); isIndex {
			path = path[:n-1] // the other items count, too
		}
	}
	raw, inFile := valuesfile.ValueAt(l.Raw, path)
	built, isMade := valuesfile.ValueAt(l.Built, path)
	return inFile == isMade && object.Equal(raw, built)
}

// edited returns values with an edit.
func edited(values map[string]any, e valuesfile.Edit) (out map[string]any, err error) {
	if values == nil {
		values = map[string]any{}
	}
	text, err := json.Marshal(values)
	if err != nil {
		return nil, errors.New("the values are no JSON")
	}
	f, err := valuesfile.Parse("values.json", text)
	if err != nil {
		return nil, err
	}
	if text, err = f.Apply(e); err != nil {
		return nil, err
	}
	return out, json.Unmarshal(text, &out)
}

// With returns a map with another value at a path. It shares everything else.
func With(m map[string]any, value any, path ...string) map[string]any {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]any{}
	}
	if len(path) > 1 {
		below, _ := out[path[0]].(map[string]any)
		value = With(below, value, path[1:]...)
	}
	out[path[0]] = value
	return out
}

package valuesfile

import (
	"fmt"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// SharedError is the error of an edit of a value that has an anchor, or lies in one, if aliases use the anchor elsewhere.
type SharedError struct {
	// Anchor is the name of the anchor, Line is its line, and User is the line of the first alias.
	Anchor     string
	Line, User int
	// Also has the edits that this edit implies elsewhere. If the caller asks for them together with the refused ones, the file can take
	// all. It is nil if they are not known.
	Also []Edit
}

// Error says which lines share the value.
func (e *SharedError) Error() string {
	return fmt.Sprintf("the value has the anchor &%s of line %d, which line %d uses: the edit would change both", e.Anchor, e.Line, e.User)
}

// further returns the edits that turn wanted into got: what an edit changes beyond what it was asked for. It edits lists as a whole, since
// removing an item would move those after it.
//
// An edit of a.tag to 2 in this file returns b.tag = 2, and the file accepts both edits together:
//
//	a: {tag: &tag "1"}
//	b: {tag: *tag}
func further(path []any, wanted, got any) []Edit {
	if object.Equal(wanted, got) {
		return nil
	}
	a, ok := wanted.(map[string]any)
	b, ok2 := got.(map[string]any)
	if !ok || !ok2 {
		return []Edit{{Path: path, Value: got}}
	}
	var out []Edit
	for _, key := range object.SortedKeys(a) {
		if _, stays := b[key]; !stays {
			out = append(out, Edit{Path: below(path, key), Remove: true})
		}
	}
	for _, key := range object.SortedKeys(b) {
		before, had := a[key]
		if !had || !object.Equal(before, b[key]) {
			out = append(out, further(below(path, key), before, b[key])...)
		}
	}
	return out
}

// IsShared reports whether the value at a path has an anchor that is used elsewhere, or lies in such a value. An edit there changes the
// other places too, so make it before the edits of those: they then have nothing to do, and the aliases stay.
func (f *File) IsShared(path []any) bool {
	root, err := locate(f.text)
	if err != nil || root == nil {
		return false
	}
	for n := root; n != nil; n, path = n.child(path[0]), path[1:] {
		if n.yaml.Anchor != "" && aliasOf(root.yaml, n.yaml) != nil {
			return true
		}
		if len(path) == 0 {
			return false
		}
	}
	return false
}

// child returns the node of a key or an index, or nil if the text has none, as in an alias.
func (n *node) child(step any) *node {
	i := -1
	switch step := step.(type) {
	case string:
		i = find(n, step)
	case int:
		if n.isList() {
			i = step
		}
	}
	if i < 0 || i >= len(n.entries) {
		return nil
	}
	return n.entries[i].value
}

// override replaces an alias by a value of its own. Path is the path of the alias. For a map the alias stays as a merge, so that keys that
// somebody adds to the anchor later still apply here.
//
// The edit of x.b in this file changes only x, and not y or the anchor:
//
//	base: &base {a: 1, b: 2}     base: &base {a: 1, b: 2}
//	x: *base                     x:
//	                        ─►     <<: *base
//	                               b: 3
//	y: *base                     y: *base
func (ed *editor) override(p place, c change, path []any) error {
	old, value, err := ed.compare(c, path)
	if err != nil || object.Equal(old, value) {
		return err
	}
	ed.overrode = true
	oldMap, isMap := old.(map[string]any)
	newMap, stays := value.(map[string]any)
	if !isMap || !stays {
		return ed.replace(p, value)
	}
	o := overlay{alias: p.yaml.Value, keys: map[string]any{}}
	for key, v := range newMap {
		if before, found := oldMap[key]; !found || !object.Equal(before, v) {
			o.keys[key] = v
		}
	}
	// A merge cannot remove a key, so if a key is removed, the map is written out.
	for key := range oldMap {
		if _, stays := newMap[key]; !stays {
			return ed.replace(p, value)
		}
	}
	return ed.replace(p, o)
}

// overMerge writes a key beside the merge that provides it. Path is the path of the key. The new key follows the merge, so that the
// merge does not overwrite it.
func (ed *editor) overMerge(p place, c change, path []any, own bool, merge entry) error {
	old, value, err := ed.compare(c, path)
	_, wanted := ValueAt(c.after, path)
	line := ed.line(merge.start)
	switch {
	case err != nil || wanted && object.Equal(old, value):
		return err
	case own:
		return fmt.Errorf("the merge of line %d overwrites the key, because it follows it", line)
	case !wanted:
		return fmt.Errorf("the merge of line %d provides the key, and YAML cannot remove a merged key", line)
	}
	ed.overrode = true
	return ed.addKey(p.node, path[len(path)-1].(string), value)
}

// compare returns the values at a path: the present one in the text, and the wanted one.
func (ed *editor) compare(c change, path []any) (old, value any, err error) {
	values, err := read(ed.text)
	if err != nil {
		return nil, nil, err
	}
	old, _ = ValueAt(values, path)
	value, _ = ValueAt(c.after, path)
	return old, value, nil
}

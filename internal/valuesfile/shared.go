package valuesfile

import (
	"fmt"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// SharedError is the error of an edit of a value that has an anchor, or lies in one, and that aliases use elsewhere.
type SharedError struct {
	// Anchor is the name of the anchor, Line its line, and User the line of the first alias.
	Anchor     string
	Line, User int
	// Also are the edits that the file would make too. If they are asked for together with the refused ones, the file can take all. They are
	// nil if that is not known.
	Also []Edit
}

// Error says which lines share the value.
func (e *SharedError) Error() string {
	return fmt.Sprintf("the value has the anchor &%s of line %d, which line %d uses: the edit would change both", e.Anchor, e.Line, e.User)
}

// further returns the edits that make got of wanted: what an edit changes beyond what it is asked for. Lists are edits as a whole, since an
// item that goes away would move those after it.
//
// An edit of a.tag to 2 in this file comes back with b.tag = 2, which makes both edits together possible:
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

// IsShared reports whether the value at a path has an anchor that is used elsewhere, or lies in such a value. An edit there changes the other
// places too, so it should be made before the edits of those: they then find what they ask for, and the aliases stay.
func (f *File) IsShared(path []any) bool {
	root, err := parse(f.text)
	if err != nil || root == nil {
		return false
	}
	for n := root; ; path = path[1:] {
		if n.Anchor != "" && aliasOf(root, n) != nil {
			return true
		}
		if len(path) == 0 {
			return false
		}
		if n = child(n, path[0]); n == nil {
			return false
		}
	}
}

// child returns the node of a key or an index in the text; nil if it has none, such as in an alias. The nodes of the library are enough
// here, since nothing is cut.
func child(n *yaml3.Node, step any) *yaml3.Node {
	var out *yaml3.Node
	switch step := step.(type) {
	case string:
		for i := 0; n.Kind == yaml3.MappingNode && i+1 < len(n.Content); i += 2 {
			if !isMerge(n.Content[i]) && keyName(n.Content[i]) == step {
				out = n.Content[i+1] // the last of equal keys wins
			}
		}
	case int:
		if n.Kind == yaml3.SequenceNode && step < len(n.Content) {
			out = n.Content[step]
		}
	}
	return out
}

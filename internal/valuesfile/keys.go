package valuesfile

import (
	"slices"

	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// keyName returns the name that a key of the text has for Helm: yes is "true", 0x10 is "16".
func keyName(n *yaml3.Node) string {
	name, _ := resolveKey(follow(n))
	return name
}

// resolveKey returns the name of a key, and its value if that is a boolean or a number. It asks the library itself about the few keys
// that may not be strings, since the rules are long and have exceptions.
func resolveKey(n *yaml3.Node) (name string, other any) {
	tagged := n.Style&yaml3.TaggedStyle != 0
	if !tagged && (n.Style != 0 || !mayBeOther(n.Value)) {
		return n.Value, nil
	}
	text := n.Value
	// A tag such as !!str sets the type of the key.
	if tagged {
		text = n.Tag + " " + doubleQuoted(n.Value)
	}
	var pair map[string]any
	if err := yaml.Unmarshal([]byte(text+": null"), &pair); err != nil {
		return n.Value, nil
	}
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err == nil {
		switch value.(type) {
		case bool, float64:
			other = value
		}
	}
	for name := range pair {
		return name, other
	}
	return n.Value, other // a key "<<"
}

// checkKeys refuses the keys that sigs.k8s.io/yaml cannot convert (v1.6.0 yaml.go convertToJSONableObject), because its error quotes
// them. It also refuses different keys of a map with the same name, such as yes and "true", because the library takes any of them.
func checkKeys(n *yaml3.Node) error {
	if n.Kind == yaml3.MappingNode {
		if err := (&mapKeys{values: map[string]any{}, added: []*yaml3.Node{n}}).add(n); err != nil {
			return err
		}
	}
	for _, below := range n.Content {
		if err := checkKeys(below); err != nil {
			return err
		}
	}
	return nil
}

// mapKeys holds the names of the keys of a map with their values, nil for a string, and the nodes that were added.
type mapKeys struct {
	values map[string]any
	added  []*yaml3.Node
}

// add adds the keys of a map, and those that it merges.
func (m *mapKeys) add(n *yaml3.Node) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := follow(n.Content[i])
		switch {
		case key.Kind != yaml3.ScalarNode || key.Tag == "!!null":
			return &lineError{n.Content[i].Line, "a key is null, a map or a list"}
		case isMerge(key):
			if err := m.addMerged(n.Content[i+1]); err != nil {
				return err
			}
			continue
		}
		name, other := resolveKey(key)
		// The same key twice is allowed: the last one wins.
		if before, twice := m.values[name]; twice && before != other {
			return &lineError{n.Content[i].Line, "the map has another key that Helm takes for the same"}
		}
		m.values[name] = other
	}
	return nil
}

// addMerged adds the keys of the maps that a "<<" merges.
func (m *mapKeys) addMerged(merged *yaml3.Node) error {
	merged = follow(merged)
	if slices.Contains(m.added, merged) { // an alias within its own value is an error of the other library
		return nil
	}
	m.added = append(m.added, merged)
	if merged.Kind != yaml3.SequenceNode {
		return m.add(merged)
	}
	for _, item := range merged.Content {
		if err := m.addMerged(item); err != nil {
			return err
		}
	}
	return nil
}

// find returns the index of the last entry with a key, or -1 if a map lacks it. Helm reads the last one, so an edit of another one would
// have no effect.
func find(n *node, key string) int {
	for i, e := range slices.Backward(n.entries) {
		if e.key != nil && !isMerge(e.key.yaml) && keyName(e.key.yaml) == key {
			return i
		}
	}
	return -1
}

// isMerge reports whether a key is a "<<" that is not quoted.
func isMerge(key *yaml3.Node) bool { return key.Tag == "!!merge" }

// mergeAfter returns the last merge that provides a key and follows the entry with an index, or -1 if there is none. If several
// merges provide the key, each overwrites the earlier ones.
func mergeAfter(n *node, index int, key string) (entry, int) {
	for i := len(n.entries) - 1; i > index; i-- {
		if e := n.entries[i]; e.key != nil && isMerge(e.key.yaml) && provides(e.value.yaml, key) {
			return e, i
		}
	}
	return entry{}, -1
}

// provides reports whether the value of a merge has a key.
func provides(merged *yaml3.Node, key string) bool {
	merged = follow(merged)
	if merged.Kind == yaml3.SequenceNode {
		return slices.ContainsFunc(merged.Content, func(n *yaml3.Node) bool { return provides(n, key) })
	}
	for i := 0; i+1 < len(merged.Content); i += 2 {
		if k := merged.Content[i]; isMerge(k) && provides(merged.Content[i+1], key) || !isMerge(k) && keyName(k) == key {
			return true
		}
	}
	return false
}

// sharedAnchor is a value that has an anchor and that an edit changes, with its aliases.
type sharedAnchor struct {
	path       []any
	name       string
	line, user int
	users      [][]any
}

// noteAnchor notes that an edit changes a value, if the value has an alias.
func (ed *editor) noteAnchor(path []any, n *yaml3.Node) {
	if n.Anchor == "" {
		return
	}
	if user := aliasOf(ed.root.yaml, n); user != nil {
		ed.shared = append(ed.shared, sharedAnchor{
			path: path, name: n.Anchor, line: n.Line, user: user.Line, users: usersOf(ed.root.yaml, n, nil),
		})
	}
}

// usersOf returns the paths of the aliases of a node at or below another one. The path of a merge is the path of its map. The paths show
// which anchor changed a place that no edit asked for.
func usersOf(root, target *yaml3.Node, path []any) [][]any {
	if root.Alias == target {
		return [][]any{path}
	}
	var out [][]any
	for i, child := range root.Content {
		at := path
		switch {
		case root.Kind == yaml3.SequenceNode:
			at = below(path, i)
		case root.Kind == yaml3.MappingNode && i%2 == 0:
			continue // a key
		case root.Kind == yaml3.MappingNode && !isMerge(root.Content[i-1]):
			at = below(path, keyName(root.Content[i-1]))
		}
		out = append(out, usersOf(child, target, at)...)
	}
	return out
}

// causeOf returns the anchor that changed a place that no edit asked for. If none is known to lead there, it returns the first.
func causeOf(shared []sharedAnchor, place []any) sharedAnchor {
	for _, s := range shared {
		for _, user := range s.users {
			if n := min(len(user), len(place)); slices.Equal(user[:n], place[:n]) {
				return s
			}
		}
	}
	return shared[0]
}

// noteAnchors does the same for a value and everything below it.
func (ed *editor) noteAnchors(path []any, n *yaml3.Node) {
	ed.noteAnchor(path, n)
	for _, below := range n.Content {
		ed.noteAnchors(path, below)
	}
}

// aliasOf returns the first alias of a node at or below another one.
func aliasOf(root, target *yaml3.Node) *yaml3.Node {
	if root.Alias == target {
		return root
	}
	for _, below := range root.Content {
		if alias := aliasOf(below, target); alias != nil {
			return alias
		}
	}
	return nil
}

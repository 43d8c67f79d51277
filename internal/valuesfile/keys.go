package valuesfile

import (
	"slices"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// keyName returns the name that a key of the text has for Helm: yes is "true", 0x10 is "16".
func keyName(n *yaml3.Node) string {
	n = follow(n)
	tagged := n.Style&yaml3.TaggedStyle != 0
	if !tagged && (n.Style != 0 || n.Value == "" || strings.IndexByte(maybeOther, n.Value[0]) < 0) {
		return n.Value
	}
	text := n.Value
	if tagged {
		text = n.Tag + " " + doubleQuoted(n.Value)
	}
	var pair map[string]any
	if err := yaml.Unmarshal([]byte(text+": null"), &pair); err != nil {
		return n.Value
	}
	for name := range pair {
		return name
	}
	return n.Value // a key "<<"
}

// find returns the index of the last entry with a key, -1 if a map lacks it.
func find(n *node, key string) int {
	for i, e := range slices.Backward(n.entries) {
		if e.key != nil && !isMerge(e.key.yaml) && keyName(e.key.yaml) == key {
			return i
		}
	}
	return -1
}

func isMerge(key *yaml3.Node) bool { return key.Tag == "!!merge" }

// mergeAfter returns the last merge that provides a key and follows the entry with an index; -1 if there is none.
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

// sharedAnchor is a value with an anchor that an edit changes, and an alias of it.
type sharedAnchor struct {
	path       []any
	name       string
	line, user int
}

// noteAnchor notes that an edit changes a value, if the value has an alias.
func (ed *editor) noteAnchor(path []any, n *yaml3.Node) {
	if n.Anchor == "" {
		return
	}
	if user := aliasOf(ed.root.yaml, n); user != nil {
		ed.shared = append(ed.shared, sharedAnchor{path: path, name: n.Anchor, line: n.Line, user: user.Line})
	}
}

// noteAnchors does so for a value and all below it.
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

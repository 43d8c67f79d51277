package kustomize

import (
	"encoding/json"
	"strings"

	"sigs.k8s.io/kustomize/api/resource"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"
)

// JSONOf returns an object as kustomize prints it (Resource.AsYAML in sigs.k8s.io/kustomize/api), as JSON. Kustomize prints each object as
// YAML, parses that, and prints it again. This changes some objects, such as texts with several line breaks at their end, but takes a fifth
// of the time of a comparison, so objects that cannot change are not printed.
func JSONOf(r *resource.Resource) ([]byte, error) {
	if node := r.YNode(); node != nil && isPlain(node) {
		value := map[string]any{}
		if err := node.Decode(&value); err != nil {
			return nil, err
		}
		return json.Marshal(value)
	}
	text, err := r.AsYAML()
	if err != nil {
		return nil, err
	}
	return yaml.YAMLToJSON(text)
}

// isPlain reports whether a node is the same after it was printed and parsed.
func isPlain(n *kyaml.Node) bool {
	if n.Anchor != "" || n.Style&(kyaml.TaggedStyle|kyaml.FoldedStyle) != 0 {
		return false
	}
	if n.Kind == kyaml.ScalarNode {
		return isPlainText(n.Value, n.Style)
	}
	for i, below := range n.Content {
		isKey := n.Kind == kyaml.MappingNode && i%2 == 0
		if isKey && below.Kind != kyaml.ScalarNode || !isPlain(below) {
			return false
		}
	}
	return n.Kind == kyaml.MappingNode || n.Kind == kyaml.SequenceNode
}

// isPlainText is isPlain for a text.
func isPlainText(text string, style kyaml.Style) bool {
	for _, r := range text {
		isSpecial := r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r >= 0x2028 && r <= 0x2029 || r >= 0xd800 && r <= 0xf8ff || r >= 0xfeff
		if isSpecial {
			return false
		}
	}
	switch {
	case text == "":
		return style != 0
	case style&kyaml.LiteralStyle == 0:
		return !strings.Contains(text, "\n")
	}
	return text[0] != ' ' && text[0] != '\n' && !strings.HasSuffix(text, "\n\n")
}

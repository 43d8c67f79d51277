package valuesfile

import (
	"slices"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
)

// Conceal returns the text of the file with each line of some scalars replaced by mask. Hides chooses the scalars by their values. The text
// has as many lines as the file, which stay as they are otherwise. That way a diff of two concealed files has the same hunks as one of the
// files themselves.
func (f *File) Conceal(mask string, hides func(value string) bool) string {
	root, err := locate(f.text)
	if err != nil || root == nil {
		return f.bom + f.text // Parse has located it already
	}
	var hidden []*node
	root.eachScalar(func(n *node) {
		if hides(n.yaml.Value) {
			hidden = append(hidden, n)
		}
	})
	text := f.text
	// From the end on, so that the offsets of those before stay right.
	for _, n := range slices.Backward(hidden) {
		from := n.content
		if n.isBlockScalar() {
			// The indicators of a block scalar say how it is to be read and nothing of what it holds.
			from = n.header
		}
		text = text[:from] + concealLines(text[from:n.end], mask, n.isBlockScalar()) + text[n.end:]
	}
	return f.bom + text
}

// eachScalar visits the values that are scalars, in the order of the text.
func (n *node) eachScalar(visit func(*node)) {
	if n.yaml.Kind == yaml3.ScalarNode {
		visit(n)
	}
	for _, e := range n.entries {
		if e.value != nil {
			e.value.eachScalar(visit)
		}
	}
}

// concealLines replaces what the lines of a text have between their blanks. The first line of a block scalar is its header and stays. The
// blanks stay, since the indent belongs to the structure and not to the value.
func concealLines(text, mask string, afterHeader bool) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if content := strings.TrimSpace(line); content != "" && !afterHeader {
			line = strings.Replace(line, content, mask, 1)
		}
		afterHeader = false
		b.WriteString(line)
	}
	return b.String()
}

package valuesfile

import (
	"regexp"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
)

// Conceal returns the text of the file with each line of some scalars replaced by mask. Hides chooses the scalars by their paths, of keys
// and indexes, and their values. The text has as many lines as the file, and all other lines stay as they are. So a diff of two concealed
// files has the same hunks as a diff of the files themselves.
func (f *File) Conceal(mask string, hides func(path []any, value string) bool) string {
	root, err := locate(f.text)
	if err != nil || root == nil {
		return string(f.whole(f.text)) // Parse has located it already
	}
	var b strings.Builder
	at := 0
	root.eachScalar(nil, func(path []any, n *node) {
		if !hides(path, n.yaml.Value) {
			return
		}
		from := n.content
		if n.isBlockScalar() {
			// The indicators of a block scalar say nothing about its content.
			from = n.header
		}
		b.WriteString(f.text[at:from] + concealLines(f.text[from:n.end], mask, n.isBlockScalar()))
		at = n.end
	})
	return string(f.whole(b.String() + f.text[at:]))
}

// ConcealAll conceals scalars in all documents of a text, as Conceal does. A document that cannot be read is concealed as a whole.
func ConcealAll(data []byte, mask string, hides func(document map[string]any, path []any, value string) bool) string {
	var b strings.Builder
	for _, d := range Documents("", data) {
		if d.Err != nil {
			b.WriteString(concealLines(d.text, mask, false))
			continue
		}
		f := *d.File
		f.head, f.tail = "", ""
		b.WriteString(f.Conceal(mask, func(path []any, value string) bool { return hides(f.values, path, value) }))
	}
	return b.String()
}

// comment matches a comment in the text between keys and scalars.
var comment = regexp.MustCompile(`(^|\s)#[^\r\n]*`)

// ConcealComments returns the text of the file with some comments replaced by mask. Hides chooses them; each begins with "#". Nothing
// else changes.
func (f *File) ConcealComments(mask string, hides func(comment string) bool) string {
	conceal := func(found string) string {
		at := strings.IndexByte(found, '#')
		if !hides(found[at:]) {
			return found
		}
		return found[:at] + "# " + mask
	}
	var b strings.Builder
	at := 0
	if root, err := locate(f.text); err == nil && root != nil {
		root.eachText(newSource(f.text), func(from, to int) {
			b.WriteString(comment.ReplaceAllStringFunc(f.text[at:from], conceal) + f.text[from:to])
			at = to
		})
	}
	return f.bom + b.String() + comment.ReplaceAllStringFunc(f.text[at:], conceal)
}

// eachText visits the keys and scalars in the order of the text. A comment may follow the header of a block scalar.
func (n *node) eachText(s source, visit func(from, to int)) {
	switch {
	case n.isBlockScalar():
		visit(n.start, n.header)
		visit(min(s.lineEnd(n.header), n.end), n.end)
	case n.yaml.Kind == yaml3.ScalarNode || n.yaml.Kind == yaml3.AliasNode:
		visit(n.start, n.end)
	}
	for _, e := range n.entries {
		if e.key != nil {
			e.key.eachText(s, visit)
		}
		e.value.eachText(s, visit)
	}
}

// eachScalar visits the values that are scalars, in the order of the text. Path is the path of the node.
func (n *node) eachScalar(path []any, visit func([]any, *node)) {
	if n.yaml.Kind == yaml3.ScalarNode {
		visit(path, n)
	}
	for i, e := range n.entries {
		step := any(i)
		if e.key != nil {
			step = keyName(e.key.yaml)
		}
		e.value.eachScalar(below(path, step), visit)
	}
}

// concealLines replaces the content of the lines of a text, between the blanks at their ends. The first line of a block scalar is its
// header and stays. The blanks stay, since the indent belongs to the structure and not to the value.
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

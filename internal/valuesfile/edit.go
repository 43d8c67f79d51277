package valuesfile

import (
	"errors"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// editor makes one change of a text.
type editor struct {
	source
	writer  writer
	root    *node
	splices []splice
	shared  []sharedAnchor
	// overrode is set if a whole value replaced an alias or was written beside a merge.
	overrode bool
}

// splice replaces a part of the text. Splices refer to the original text, so one does not move the place of another.
type splice struct {
	from, to int
	text     string
}

// place is a node with the map or list that contains it.
type place struct {
	*node
	parent *node
	mark   int // as in entry
	column int // of the block that has the node; -1 for the root
	inFlow bool
}

// errNoPlace is the error if an earlier edit changed a value on the path, because an anchor shares it.
var errNoPlace = errors.New("the file does not have the place")

// newEditor parses a text.
func newEditor(name, text string) (*editor, error) {
	root, err := locate(text)
	if err != nil {
		return nil, err
	}
	s := newSource(text)
	return &editor{source: s, root: root, writer: newWriter(name, s, root)}, nil
}

// apply returns the text with a change.
func (ed *editor) apply(c change) (string, error) {
	if ed.root == nil || ed.root.isEmpty() && ed.root.yaml.Anchor == "" {
		ed.writeRoot(nested(c.path, c.value))
	} else if err := ed.walk(c); err != nil {
		return "", err
	}
	return ed.spliced()
}

// spliced returns the text with all splices.
func (ed *editor) spliced() (string, error) {
	order.Sort(ed.splices, func(a, b splice) int { return a.from - b.from })
	var b strings.Builder
	done := 0
	for _, s := range ed.splices {
		// Splices of one change never overlap. If they did, the result would be broken without an error.
		if s.from < done {
			return "", errors.New("two changes of one place")
		}
		b.WriteString(ed.text[done:s.from] + s.text)
		done = s.to
	}
	return b.String() + ed.text[done:], nil
}

// splice notes the replacement of a part of the text.
func (ed *editor) splice(from, to int, text string) {
	if from != to || text != "" {
		ed.splices = append(ed.splices, splice{from, to, text})
	}
}

// insert notes the insertion of a text at an offset. Several insertions at one offset keep their order.
func (ed *editor) insert(at int, text string) { ed.splice(at, at, text) }

// writeRoot writes the first values of a file that has only comments.
func (ed *editor) writeRoot(v any) {
	at, text := len(ed.text), ""
	if ed.writer.unended {
		text = ed.writer.eol
	}
	inline, below := ed.writer.beside(v, -1, 0, nil)
	if ed.writer.json {
		inline, below = ed.writer.flow(v, nil, false), ""
	}
	if text += inline + below; !ed.writer.unended {
		text += ed.writer.eol
	}
	ed.insert(at, text)
}

// walk follows the path through the text, as far as the text has it, and makes the change there. It stops at an alias on the way: the
// value of the alias is written elsewhere, and other places may use it.
func (ed *editor) walk(c change) error {
	p := place{node: ed.root, mark: ed.root.start, column: -1, inFlow: ed.writer.json}
	for i, step := range c.path {
		ed.noteAnchor(c.path[:i], p.yaml)
		switch {
		case p.yaml.Kind == yaml3.AliasNode:
			return ed.override(p, c, c.path[:i])
		// The file has a null, {} or [] there. Replace it by a value with the rest of the path.
		case p.isVoid() && c.kind != remove:
			return ed.replace(p, nested(c.path[i:], c.value))
		}
		index, isLast := -1, i == len(c.path)-1
		switch step := step.(type) {
		case string:
			index = find(p.node, step)
			// Helm's library lets a merge overwrite the keys before it, so a change of the own key would have no effect.
			if merge, by := mergeAfter(p.node, index, step); by >= 0 {
				return ed.overMerge(p, c, c.path[:i+1], index >= 0, merge)
			}
			if index < 0 && c.kind == remove {
				return nil // the override of an alias removed it already
			}
			if index < 0 {
				return ed.addKey(p.node, step, nested(c.path[i+1:], c.value))
			}
		case int:
			if index = step; index > len(p.entries) {
				return errNoPlace
			}
			if index == len(p.entries) || isLast && c.kind == insert {
				return ed.addItem(p.node, index, nested(c.path[i+1:], c.value))
			}
		}
		if isLast && c.kind == remove {
			return ed.remove(p, c, index)
		}
		if index < 0 || index >= len(p.entries) {
			return errNoPlace
		}
		p = ed.child(p, index)
	}
	if p.yaml.Kind == yaml3.AliasNode {
		// An earlier edit may have changed the anchor, so that the alias already has the value and can stay.
		if old, value, err := ed.compare(c, c.path); err != nil || object.Equal(old, value) {
			return err
		}
	}
	ed.noteAnchors(c.path, p.yaml)
	return ed.replace(p, c.value)
}

// child returns the place of an entry of p.
func (ed *editor) child(p place, index int) place {
	e := p.entries[index]
	c := place{node: e.value, parent: p.node, mark: e.mark, inFlow: p.node.flow}
	if c.column = -1; !c.inFlow {
		c.column = ed.column(p.content)
	}
	if e.mark < 0 {
		c.mark = e.key.end
	}
	return c
}

// replace writes a value in place of another one. Comments stay on their lines:
//
//	key: old # comment          key: # comment
//	                     ─►       a: 1
//
// Comments within a block are removed with it.
func (ed *editor) replace(p place, v any) error {
	if p.inFlow {
		return ed.replaceInFlow(p, v)
	}
	n, begin := p.node, p.mark // begin is where the text of the value begins, after the ":" or "-" or the anchor
	if n.properties > n.start {
		begin = n.properties
	}
	sameLine := ed.line(begin) == ed.line(n.content)
	inline, below := ed.render(p, v, sameLine)
	from, to := n.content, begin
	if strings.Contains(ed.text[n.start:n.properties], "!") { // the tag of the old value may not fit the new one
		begin, from, to = p.mark, n.start, n.properties
		inline = strings.TrimSpace(n.anchorText() + " " + inline)
	}
	if inline == "" && sameLine {
		from = begin
	}
	spaced := inline
	if inline != "" {
		spaced = " " + inline
	}
	switch {
	case n.isEmpty() || n.isBlock() && !sameLine:
		ed.splice(begin, to, spaced)
		ed.splice(ed.lineEnd(to), ed.lineEnd(n.end), below)
	case n.isBlock():
		ed.splice(from, ed.lineEnd(n.end), inline+below)
	case n.isBlockScalar():
		ed.splice(from, n.header, inline)
		ed.splice(ed.lineEnd(n.header), n.end, below)
	default:
		ed.splice(from, n.end, inline)
		ed.insert(ed.lineEnd(n.end), below)
	}
	return nil
}

// anchorText returns the anchor of a node with its "&".
func (n *node) anchorText() string {
	if n.yaml.Anchor == "" {
		return ""
	}
	return "&" + n.yaml.Anchor
}

// render returns the text of a new value in a block: below its key, or beside its "-", or where the old value has a line of its own. In
// each of these three places, the lines that follow have another column.
func (ed *editor) render(p place, v any, sameLine bool) (inline, below string) {
	w := ed.near(p.parent, p.end, p.column)
	ownLine := !sameLine && !p.isBlock() && !p.isEmpty()
	switch {
	case p.parent == nil:
		return w.beside(v, -1, 0, p.yaml)
	case ownLine:
		return w.beside(v, p.column, ed.column(p.content), p.yaml)
	case p.parent.isList() && sameLine && !p.isEmpty():
		return w.beside(v, p.column, ed.column(p.start), p.yaml)
	case p.parent.isList():
		return w.beside(v, p.column, p.column+w.dash, p.yaml)
	}
	return w.under(v, p.column, p.yaml)
}

// addKey adds a key after the last one of a map.
func (ed *editor) addKey(n *node, key string, v any) error {
	if n.flow {
		return ed.addInFlow(n, len(n.entries), ed.writer.flowPair(key, v))
	}
	column := ed.column(n.content)
	w := ed.near(n, n.end, column)
	ed.addAfter(n, w.pair(key, v, column), column)
	return nil
}

// addItem adds an item to a list, before the one that has the index.
func (ed *editor) addItem(n *node, index int, v any) error {
	if n.flow {
		return ed.addInFlow(n, index, ed.writer.flow(v, hintOf(n), true))
	}
	column := ed.column(n.content)
	w := ed.near(n, n.end, column)
	text := w.item(v, column, hintOf(n))
	if index == len(n.entries) {
		ed.addAfter(n, text, column)
		return nil
	}
	at := n.entries[index].start
	if index > 0 {
		at = ed.headComments(n, index, at) + column
	}
	ed.insert(at, text+w.eol+pad(column))
	return nil
}

// addAfter adds an entry after the last one of a block.
func (ed *editor) addAfter(n *node, text string, column int) {
	at := ed.lineEnd(n.end)
	last := n
	for len(last.entries) > 0 && last.isBlock() {
		// The last value in the text decides, however deeply it is nested.
		last = last.entries[len(last.entries)-1].value
	}
	if at == len(ed.text) && last.isBlockScalar() && !strings.HasSuffix(last.yaml.Value, "\n") {
		// The file ended without a line break, and now the scalar gets one.
		indicators := strings.Trim(ed.text[last.content:last.header], "+-")
		ed.splice(last.content, last.header, indicators+"-")
	}
	ed.insert(at, ed.writer.eol+pad(column)+text)
}

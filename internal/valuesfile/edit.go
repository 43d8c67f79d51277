package valuesfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// editor makes one change of a text.
type editor struct {
	source
	writer  writer
	root    *node
	splices []splice
	shared  []sharedAnchor
	// overrode is set if a value was written as a whole in place of an alias or beside a merge.
	overrode bool
}

// splice replaces a part of the text.
type splice struct {
	from, to int
	text     string
}

// place is a node with what has it.
type place struct {
	*node
	parent *node
	mark   int // as in entry
	column int // of the block that has the node; -1 for the root
	inFlow bool
}

// errNoPlace is the error if an earlier edit changed what the path leads through, by way of an anchor.
var errNoPlace = errors.New("the file does not have the place")

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
	slices.SortStableFunc(ed.splices, func(a, b splice) int { return a.from - b.from })
	var b strings.Builder
	done := 0
	for _, s := range ed.splices {
		if s.from < done {
			return "", errors.New("two changes of one place")
		}
		b.WriteString(ed.text[done:s.from] + s.text)
		done = s.to
	}
	return b.String() + ed.text[done:], nil
}

func (ed *editor) splice(from, to int, text string) {
	if from != to || text != "" {
		ed.splices = append(ed.splices, splice{from, to, text})
	}
}

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

// walk follows the path through the text, as far as the text has it, and makes the change there.
func (ed *editor) walk(c change) error {
	p := place{node: ed.root, mark: ed.root.start, column: -1, inFlow: ed.writer.json}
	for i, step := range c.path {
		ed.noteAnchor(c.path[:i], p.yaml)
		switch {
		case p.yaml.Kind == yaml3.AliasNode:
			return ed.override(p, c, c.path[:i])
		case p.isVoid() && c.kind != remove:
			return ed.replace(p, nested(c.path[i:], c.value))
		}
		index, isLast := -1, i == len(c.path)-1
		switch step := step.(type) {
		case string:
			index = find(p.node, step)
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

// replace writes a value in place of another one.
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

// render returns the text of a new value in a block.
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
		last = last.entries[len(last.entries)-1].value
	}
	if at == len(ed.text) && last.isBlockScalar() && !strings.HasSuffix(last.yaml.Value, "\n") {
		// The end of the file cut off the line break that the scalar gets now.
		indicators := strings.Trim(ed.text[last.content:last.header], "+-")
		ed.splice(last.content, last.header, indicators+"-")
	}
	ed.insert(at, ed.writer.eol+pad(column)+text)
}

// remove removes a key or an item.
func (ed *editor) remove(p place, c change, index int) error {
	n := p.node
	ed.noteAnchors(c.path, n.entries[index].value.yaml)
	same := 0 // how often the map has the key
	for _, e := range n.entries {
		if n.isMap() && keyName(e.key.yaml) == keyName(n.entries[index].key.yaml) {
			same++
		}
	}
	switch {
	case same > 1:
		return ed.removeAgain(p, c, index)
	case len(n.entries) > 1 && n.flow:
		return ed.removeInFlow(n, index)
	case len(n.entries) > 1 || p.parent == nil && !n.flow:
		ed.removeLines(n, p.firstLine(), index)
		return nil
	case n.isMap():
		return ed.replace(p, map[string]any{})
	}
	return ed.replace(p, []any{})
}

// removeAgain removes the last of several equal keys, and then the others.
func (ed *editor) removeAgain(p place, c change, index int) error {
	n := p.node
	if n.flow {
		return errors.New("a map in one line has the key twice")
	}
	ed.removeLines(n, p.firstLine(), index)
	text, err := ed.spliced()
	if err != nil {
		return err
	}
	again, err := newEditor("", text)
	if err != nil {
		return err
	}
	if text, err = again.apply(c); err != nil {
		return err
	}
	ed.splices = []splice{{0, len(ed.text), text}}
	ed.shared = append(ed.shared, again.shared...)
	return nil
}

// firstLine returns the offset of the line above which no comment belongs to the first entry of the place; -1 for the root.
func (p place) firstLine() int {
	if p.parent == nil {
		return -1
	}
	return p.mark
}

// removeLines removes the lines of an entry of a block. First is as for headComments.
func (ed *editor) removeLines(n *node, first, index int) {
	e := n.entries[index]
	end := ed.lineEnd(e.value.end)
	if index == 0 && !ed.startsLine(e.start) && len(n.entries) > 1 { // - key: value
		next := n.entries[1].start
		if strings.TrimSpace(ed.text[end:next]) == "" {
			ed.splice(e.start, next, "")
			return
		}
		from := len(strings.TrimRight(ed.text[:e.start], " \t"))
		ed.splice(from, end, "")
		return
	}
	from, to := ed.headComments(n, index, first), ed.afterLine(end)
	if to == end && from > 0 { // the last line of the file, without a line break
		from = ed.lineEnd(ed.lineStart(from - 1))
	}
	ed.splice(from, to, "")
}

// headComments returns where the comment lines directly above an entry begin, or the line of the entry if there are none. Those of the
// first entry do not reach the line of the offset first; -1 sets no limit.
func (ed *editor) headComments(n *node, index, first int) int {
	e := n.entries[index]
	if index > 0 {
		first = n.entries[index-1].value.end
	}
	at := ed.lineStart(e.start)
	for at > 0 {
		above := ed.lineStart(at - 1)
		comment := strings.TrimLeft(ed.text[above:at], " ")
		if first >= 0 && ed.line(above) <= ed.line(first) || !strings.HasPrefix(comment, "#") || at-above-len(comment) != ed.column(e.start) {
			break
		}
		at = above
	}
	return at
}

// override replaces an alias by a value of its own. Path is that of the alias.
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
	for key := range oldMap {
		if _, stays := newMap[key]; !stays {
			return ed.replace(p, value)
		}
	}
	return ed.replace(p, o)
}

// overMerge writes a key beside the merge that provides it. Path is that of the key.
func (ed *editor) overMerge(p place, c change, path []any, own bool, merge entry) error {
	old, value, err := ed.compare(c, path)
	_, wanted := lookup(c.after, path)
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

// compare returns the values at a path: in the text as it is, and wanted.
func (ed *editor) compare(c change, path []any) (old, value any, err error) {
	values, err := read(ed.text)
	if err != nil {
		return nil, nil, err
	}
	old, _ = lookup(values, path)
	value, _ = lookup(c.after, path)
	return old, value, nil
}

package valuesfile

import (
	"errors"
	"strings"
)

// remove removes a key or an item. The last entry cannot just go: an empty block would be null, which is another value than an empty map.
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

// removeAgain removes the last of several equal keys, and then the others. Helm reads the last one, so the key would come back with an
// older value if only that went.
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
		// The dash belongs to the item, which stays: its second key moves up beside the dash.
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
// first entry do not reach the line of the offset first; -1 sets no limit. A comment directly above a key is taken for a comment on that
// key. One that is separated by an empty line, or indented otherwise, may be about all that follows.
//
// In this text the first comment stays if b is removed, and the second one goes with it:
//
//	a: 1
//	# about what follows
//
//	# about b
//	b: 2
func (ed *editor) headComments(n *node, index, first int) int {
	e := n.entries[index]
	if index > 0 {
		first = n.entries[index-1].value.end
	}
	at := ed.lineStart(e.start)
	for at > 0 {
		above := ed.lineStart(at - 1)
		comment := strings.TrimLeft(ed.text[above:at], " ")
		isAbove := strings.HasPrefix(comment, "#") && at-above-len(comment) == ed.column(e.start)
		if !isAbove || first >= 0 && ed.line(above) <= ed.line(first) {
			break
		}
		at = above
	}
	return at
}

package valuesfile

import (
	"errors"
	"strings"
)

// remove removes a key or an item. For the last entry it writes {} or [], because an empty block would be null, which is another value
// than an empty map.
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
		ed.removeLines(p, index)
		return nil
	case n.isMap():
		return ed.replace(p, map[string]any{})
	}
	return ed.replace(p, []any{})
}

// removeAgain removes the last of several equal keys, and then the others. Helm reads the last one, so if only that was removed, the
// key would come back with an older value.
func (ed *editor) removeAgain(p place, c change, index int) error {
	if p.node.flow {
		return errors.New("a map in one line has the key twice")
	}
	ed.removeLines(p, index)
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

// removeLines removes the lines of an entry of a block.
func (ed *editor) removeLines(p place, index int) {
	n, e := p.node, p.entries[index]
	end := ed.lineEnd(e.value.end)
	if _, ownLine := ed.ownLine(e.start); index == 0 && !ownLine && len(n.entries) > 1 { // - key: value
		// The item stays, and the dash belongs to it: its second key moves up beside the dash.
		next := n.entries[1].start
		if strings.TrimSpace(ed.text[end:next]) == "" {
			ed.splice(e.start, next, "")
			return
		}
		from := len(strings.TrimRight(ed.text[:e.start], " \t"))
		ed.splice(from, end, "")
		return
	}
	first := -1
	if p.parent != nil {
		first = p.mark
	}
	from, to := ed.headComments(n, index, first), ed.afterLine(end)
	if to == end && from > 0 { // the last line of the file, without a line break
		from = ed.lineEnd(ed.lineStart(from - 1))
	}
	ed.splice(from, to, "")
}

// headComments returns where the comment lines directly above an entry begin, or the line of the entry if there are none. For the first
// entry, they begin after the line of the offset first; -1 sets no limit. A comment directly above a key counts as a comment on that
// key. A comment with an empty line below it, or with another indent, may be about everything that follows.
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

// replaceInFlow writes a value within {…} or […].
func (ed *editor) replaceInFlow(p place, v any) error {
	n, text := p.node, ed.writer.flow(v, p.yaml, true)
	from := n.content
	// A tag such as !!str says the type of the old value.
	if strings.Contains(ed.text[n.start:n.properties], "!") {
		from, text = n.start, strings.TrimSpace(n.anchorText()+" "+text)
	}
	switch before := ed.text[:from]; {
	case n.isEmpty() && n.start == n.end && p.parent.isMap() && !strings.HasSuffix(before, ":"): // {key}
		text = ": " + text
	case strings.HasSuffix(before, ":") || n.isEmpty() && !strings.HasSuffix(before, " "):
		text = " " + text
	}
	ed.splice(from, n.end, text)
	return nil
}

// addInFlow adds an entry to {…} or […], on a line of its own if its neighbour has one.
func (ed *editor) addInFlow(n *node, index int, text string) error {
	if n.implicit {
		return errors.New("a map without braces cannot have a second key")
	}
	if index < len(n.entries) {
		at, separator := n.entries[index].start, ", "
		if prefix, ok := ed.ownLine(at); ok {
			separator = "," + ed.writer.eol + prefix
		}
		ed.insert(at, text+separator)
		return nil
	}
	last := n.entries[len(n.entries)-1]
	end := last.value.end
	comma := ed.skip(end)
	prefix, ownLine := ed.ownLine(last.start)
	switch closing := n.end - 1; {
	// The place of the last comma or of the bracket shows whether the list has one entry per line, with or without a comma after the last.
	case !ownLine:
		ed.insert(end, ", "+text)
	case ed.peek(comma) == ',' && ed.line(closing) > ed.line(comma):
		ed.insert(ed.lineEnd(comma), ed.writer.eol+prefix+text+",")
	case ed.peek(comma) != ',' && ed.line(closing) > ed.line(end):
		ed.insert(end, ",")
		ed.insert(ed.lineEnd(end), ed.writer.eol+prefix+text)
	default:
		ed.insert(end, ","+ed.writer.eol+prefix+text)
	}
	return nil
}

// ownLine returns the blanks before an offset if nothing else precedes it on its line.
func (ed *editor) ownLine(at int) (string, bool) {
	prefix := ed.text[ed.lineStart(at):at]
	return prefix, strings.TrimSpace(prefix) == ""
}

// removeInFlow removes one of several entries of {…} or […]. If an entry has a line to itself, the comment on that line is removed too,
// and other comments stay. Inside the brackets, only its line shows what a comment is about.
func (ed *editor) removeInFlow(n *node, index int) error {
	e := n.entries[index]
	from, end, next, to := e.start, e.value.end, n.end-1, e.value.end
	if comma := ed.skip(end); ed.peek(comma) == ',' {
		end = comma + 1
	}
	if index == len(n.entries)-1 {
		from = n.entries[index-1].value.end
	} else {
		next = n.entries[index+1].start
		to = next
	}
	_, ownLine := ed.ownLine(e.start)
	switch {
	case !strings.Contains(ed.text[from:e.start], "#") && !strings.Contains(ed.text[end:next], "#"):
		ed.splice(from, to, "")
	case ownLine && ed.line(next) > ed.line(end):
		ed.splice(ed.lineStart(e.start), ed.afterLine(end), "")
	default:
		ed.splice(e.start, end, "")
	}
	return nil
}

package valuesfile

import (
	"errors"
	"strings"
)

// replaceInFlow writes a value within {…} or […].
func (ed *editor) replaceInFlow(p place, v any) error {
	n, text := p.node, ed.writer.flow(v, p.yaml, true)
	from := n.content
	// A tag such as !!str says the type of the old value.
	if strings.Contains(ed.text[n.start:n.properties], "!") {
		from, text = n.start, strings.TrimSpace(n.anchorText()+" "+text)
	}
	switch before := ed.peek(from - 1); {
	case n.isEmpty() && n.start == n.end && p.parent.isMap() && before != ':': // {key}
		text = ": " + text
	case before == ':' || n.isEmpty() && before != ' ':
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
	// The place of the last comma or of the bracket shows whether the list has one entry a line, with or without a comma after the last.
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

// removeInFlow removes one of several entries of {…} or […]. If there are comments, an entry that has a line to itself takes along the one
// on its line, and others stay. A comment inside the brackets has nothing but its line to say what it is about.
func (ed *editor) removeInFlow(n *node, index int) error {
	e := n.entries[index]
	from, end, next := e.start, e.value.end, n.end-1
	if comma := ed.skip(end); ed.peek(comma) == ',' {
		end = comma + 1
	}
	isLast := index == len(n.entries)-1
	if !isLast {
		next = n.entries[index+1].start
	} else {
		from = n.entries[index-1].value.end
	}
	_, ownLine := ed.ownLine(e.start)
	switch {
	case !strings.Contains(ed.text[from:e.start], "#") && !strings.Contains(ed.text[end:next], "#"):
		if isLast {
			ed.splice(from, e.value.end, "")
		} else {
			ed.splice(from, next, "")
		}
	case ownLine && ed.line(next) > ed.line(end):
		ed.splice(ed.lineStart(e.start), ed.afterLine(end), "")
	default:
		ed.splice(e.start, end, "")
	}
	return nil
}

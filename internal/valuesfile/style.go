package valuesfile

import (
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
)

// survey counts how a file is written. New lines then look as if the author of the file had written them.
type survey struct {
	source
	steps, listSteps  map[int]int // how often maps and lists are indented so far beyond their key
	single, double    int
	quotedKeys, other int // keys in double quotes, and all others
}

// newWriter returns a writer in the manner of a file.
func newWriter(name string, s source, root *node) writer {
	v := survey{source: s, steps: map[int]int{}, listSteps: map[int]int{}}
	if root != nil {
		v.visit(root)
	}
	w := writer{eol: "\n", step: mostFrequent(v.steps, 2), dash: 2, single: v.single > v.double}
	w.listStep = mostFrequent(v.listSteps, w.step)
	w.json = strings.HasSuffix(name, ".json") || root != nil && root.flow && v.quotedKeys > 0 && v.other == 0
	// A file with both is one of the kind that most of its lines are.
	if crlf := strings.Count(s.text, "\r\n"); crlf*2 > strings.Count(s.text, "\n") {
		w.eol = "\r\n"
	}
	w.unended = len(s.text) > 0 && s.lines[len(s.lines)-1] != len(s.text)
	return w
}

// mostFrequent returns the number that was counted most, and the smallest of several; otherwise if nothing was counted. The order of a map
// is random, so a tie needs a rule: the result must not change from run to run.
func mostFrequent(counts map[int]int, otherwise int) int {
	best := otherwise
	for step, n := range counts {
		if n > counts[best] || n == counts[best] && n > 0 && step < best {
			best = step
		}
	}
	return best
}

// visit counts what a node and all below it show.
func (v *survey) visit(n *node) {
	if n.yaml.Kind == yaml3.ScalarNode {
		v.countQuotes(n, &v.single, &v.double)
	}
	for _, e := range n.entries {
		if e.key != nil {
			v.countQuotes(e.key, &v.other, &v.quotedKeys)
			if e.key.yaml.Style&yaml3.DoubleQuotedStyle == 0 {
				v.other++
			}
		}
		if step, ok := v.stepTo(n, e); ok && e.value.isMap() {
			v.steps[step]++
		} else if ok {
			v.listSteps[step]++
		}
		v.visit(e.value)
	}
}

// countQuotes counts a scalar if it is quoted.
func (v *survey) countQuotes(n *node, single, double *int) {
	switch {
	case n.yaml.Style&yaml3.SingleQuotedStyle != 0:
		*single++
	case n.yaml.Style&yaml3.DoubleQuotedStyle != 0:
		*double++
	}
}

// stepTo returns how far the block below a key of a block map is indented; false if there is none.
func (s source) stepTo(n *node, e entry) (int, bool) {
	if n.flow || e.key == nil || !e.value.isBlock() || s.line(e.value.content) == s.line(e.mark) {
		return 0, false
	}
	return s.column(e.value.content) - s.column(n.content), true
}

// near returns the writer for a new entry of a map or list: it does as the entries that are there. The text is written before the end of
// the line of an offset, in a block at a column. A part of a file may be copied from elsewhere and have an indent of its own.
func (ed *editor) near(n *node, at, column int) *writer {
	w := ed.writer
	w.quoteLines = ed.hasCommentBelow(at, column)
	if n == nil || n.flow {
		return &w
	}
	for _, e := range n.entries {
		if step, ok := ed.stepTo(n, e); ok && e.value.isMap() {
			w.step = step
		} else if ok {
			w.listStep = step
		}
		if n.isList() && !e.value.isEmpty() && ed.line(e.value.start) == ed.line(e.mark) {
			w.dash = ed.column(e.value.start) - ed.column(e.start)
		}
	}
	return &w
}

// hasCommentBelow reports whether the next line with text is a comment to the right of a column. A block scalar would take such a comment
// for a line of its text.
func (s source) hasCommentBelow(at, column int) bool {
	for at = s.afterLine(at); at < len(s.text); at = s.afterLine(at) {
		if text := s.skipSpace(at); breakLength(s.text[text:]) == 0 {
			return s.peek(text) == '#' && text-at > column
		}
	}
	return false
}

// hintOf returns a string among the values of a list, whose quotes a new item takes over. Lists of arguments are often quoted throughout,
// even where no item needs it.
func hintOf(n *node) *yaml3.Node {
	for _, e := range n.entries {
		if e.key == nil && isQuoted(e.value.yaml) {
			return e.value.yaml
		}
	}
	return nil
}

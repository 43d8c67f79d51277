package sides

import (
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/lookalike"
	"github.com/helmdrift/helmdrift/internal/unified"
)

const (
	// hunkContext is how many equal lines surround a change. A reader recognizes the place by them.
	hunkContext = 1
	// maxHunkLines is how many lines of the diff of a value are shown on a terminal. The others are counted.
	maxHunkLines = 12
)

// isMultiline reports whether both sides are strings, and one of them has several lines.
func (p pair) isMultiline() bool {
	a, aString := p.from.(string)
	b, bString := p.to.(string)
	return aString && bString && strings.Contains(a+b, "\n")
}

// countLines returns what stands for a text of several lines in its cell.
func (t view) countLines(side any) string {
	s, ok := side.(string)
	if !ok || !strings.Contains(s, "\n") {
		return t.Side(side)
	}
	return "(" + english.Count(layout.CountLines(s), "line") + ")"
}

// changedLines says how many lines of a text changed: "2 of 200 lines". A line that was changed counts once.
func changedLines(p pair) string {
	from, to := textsOf(p.from, p.to)
	changed := 0
	for _, h := range unified.Join(unified.Hunks(unified.Part{Before: from, After: to}), 0) {
		removed, added := 0, 0
		for _, l := range h.Lines() {
			switch l.Sign {
			case '-':
				removed++
			case '+':
				added++
			}
		}
		changed += max(removed, added)
	}
	return fmt.Sprintf("%d of %s", changed, english.Count(max(layout.CountLines(from), layout.CountLines(to)), "line"))
}

// hunks returns the diff of two texts: for each group of changes the number of its first line in from, and its lines with their signs.
func (t view) hunks(from, to any) []string {
	before, after := textsOf(from, to)
	var lines []unified.Line
	var heads []int
	for _, h := range unified.Join(unified.Hunks(unified.Part{Before: before, After: after}), hunkContext) {
		first, _ := h.Old()
		all := h.Lines()
		lines, heads = append(lines, all...), append(append(heads, first+1), make([]int, len(all)-1)...)
	}
	shown := make([]string, len(lines))
	for i, l := range lines {
		shown[i] = t.quotedLine(l.Text)
	}
	shown = lookalike.Distinguish(shown)
	var out []string
	for i, l := range lines {
		if heads[i] > 0 {
			out = append(out, fmt.Sprintf("@@ %d", heads[i]))
		}
		out = append(out, string(l.Sign)+" "+shown[i])
		if l.Unended {
			out = append(out, "\\ no line break at the end")
		}
	}
	return t.firstLines(out)
}

// firstLines returns the first lines of a diff on a terminal, and counts the others.
func (t view) firstLines(all []string) []string {
	if t.Width == 0 || len(all) <= maxHunkLines+1 {
		return all
	}
	return append(all[:maxHunkLines:maxHunkLines], english.Count(len(all)-maxHunkLines, "more line"))
}

// textsOf returns two values as texts. A value that is not a text has no lines.
func textsOf(from, to any) (before, after string) {
	before, _ = from.(string)
	after, _ = to.(string)
	return before, after
}

// quotedLine shows a line. One with blanks at its end, which nobody would see, is quoted.
func (t view) quotedLine(l string) string {
	plain := strings.TrimRight(l, " ") == l && !strings.HasPrefix(l, `"`)
	return t.Quoted(l, plain)
}

// Package unified writes the difference of two texts as a unified diff for patch(1).
package unified

import (
	"fmt"
	"slices"
	"strings"
)

// context is how many equal lines surround a change, as in diff -u and git.
const context = 3

// Diff returns the unified diff of two texts, or "" if they are equal. The names are the file names in its head.
func Diff(oldName, newName, before, after string) string {
	if before == after {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", oldName, newName)
	for _, h := range Hunks(Part{before, after}) {
		out.WriteString(h.Text(0, ""))
	}
	return out.String()
}

// Hunk is a group of changes with touching context lines. It keeps both texts, so that the context can be narrowed later:
//
//	a b c D e f g H i   ─► with 3 lines: one hunk, since D and H are 3 lines apart; with 1 line: two hunks
type Hunk struct {
	a, b    []string
	changes []change
	context int
}

// Part is a part of two texts that Hunks compares by itself.
type Part struct{ Before, After string }

// Hunks returns the hunks of the difference of two texts, with three equal lines around each change. The parts follow each other, and a
// line of one part never matches a line of another.
func Hunks(parts ...Part) []Hunk {
	var a, b []string
	var all []change
	for _, p := range parts {
		before, after := split(p.Before), split(p.After)
		for _, c := range script(before, after) {
			all = append(all, change{len(a) + c.fromA, len(a) + c.toA, len(b) + c.fromB, len(b) + c.toB})
		}
		a, b = append(a, before...), append(b, after...)
	}
	return group(a, b, all, context)
}

// Changes returns each change of the hunk as a hunk without equal lines.
func (h Hunk) Changes() (out []Hunk) {
	for _, c := range h.changes {
		out = append(out, Hunk{h.a, h.b, []change{c}, 0})
	}
	return out
}

// Join returns the changes of several hunks as new hunks with at most n equal lines around each change. The
// hunks must be of the same texts. A report needs less context than patch(1), which finds the place by it.
func Join(hunks []Hunk, n int) []Hunk {
	var all []change
	for _, h := range hunks {
		all = append(all, h.changes...)
	}
	if len(all) == 0 {
		return nil
	}
	return group(hunks[0].a, hunks[0].b, all, n)
}

// Old returns the first line of the hunk in the old text, counted from 0, and the line after its last one.
func (h Hunk) Old() (from, to int) {
	lead, tail := h.margins()
	return h.changes[0].fromA - lead, h.changes[len(h.changes)-1].toA + tail
}

// New returns the same for the new text.
func (h Hunk) New() (from, to int) {
	lead, tail := h.margins()
	return h.changes[0].fromB - lead, h.changes[len(h.changes)-1].toB + tail
}

// First returns the first line that the hunk changes: a line of the old text, or one of the new text if it adds lines there.
func (h Hunk) First() (line int, isOld bool) {
	if c := h.changes[0]; c.fromA == c.toA {
		return c.fromB, false
	}
	return h.changes[0].fromA, true
}

// Added returns how many lines the new text has more than the old one because of the hunk.
func (h Hunk) Added() (n int) {
	for _, c := range h.changes {
		n += c.toB - c.fromB - (c.toA - c.fromA)
	}
	return n
}

// margins returns how many equal lines are before and after the changes.
func (h Hunk) margins() (lead, tail int) {
	return min(h.context, h.changes[0].fromA), min(h.context, len(h.a)-h.changes[len(h.changes)-1].toA)
}

// Text returns the hunk in the form for patch(1). The skew is added to the line number in the new text: it is negative by the number of
// lines that omitted earlier hunks would have added. The section, if there is one, follows the line numbers.
func (h Hunk) Text(skew int, section string) string {
	var out strings.Builder
	fromA, toA := h.Old()
	fromB, toB := h.New()
	if section != "" {
		section = " " + section
	}
	fmt.Fprintf(&out, "@@ -%s +%s @@%s\n", span(fromA, toA), span(fromB+skew, toB+skew), section)
	for _, l := range h.Lines() {
		out.WriteString(string(l.Sign) + l.Text + "\n")
		if l.Unended {
			out.WriteString("\\ No newline at end of file\n")
		}
	}
	return out.String()
}

// Line is a line of a hunk, without its end.
type Line struct {
	// Sign is '-' for a line of the old text, '+' for one of the new text, and ' ' for one of both.
	Sign rune
	Text string
	// Unended is set for the last line of a text that does not end with a line break.
	Unended bool
}

// Lines returns the lines of the hunk in their order. The removed lines of a change stand before its added ones.
func (h Hunk) Lines() (out []Line) {
	add := func(sign rune, all []string) {
		for _, l := range all {
			text, ended := strings.CutSuffix(l, "\n")
			out = append(out, Line{sign, text, !ended})
		}
	}
	at, end := h.Old()
	for _, c := range h.changes {
		add(' ', h.a[at:c.fromA])
		add('-', h.a[c.fromA:c.toA])
		add('+', h.b[c.fromB:c.toB])
		at = c.toA
	}
	add(' ', h.a[at:end])
	return out
}

// split returns the lines of a text with their ends. The end stays with its line, so that a line break that was added to the last line is a
// change.
func split(text string) []string { return slices.Collect(strings.Lines(text)) }

// change is a run of lines: a[fromA:toA] becomes b[fromB:toB].
type change struct{ fromA, toA, fromB, toB int }

// script returns the changes that turn a into b, by the algorithm of Myers ("An O(ND) Difference Algorithm", 1986), between the equal
// lines at both ends. Its time grows with the length times the number of changes, and most texts have few changes.
func script(a, b []string) []change {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	var out []change
	for _, c := range middle(a[start:len(a)-end], b[start:len(b)-end]) {
		out = append(out, change{c.fromA + start, c.toA + start, c.fromB + start, c.toB + start})
	}
	return out
}

// maxEdits bounds the search for the shortest script; if it is longer, one change replaces all lines. The memory of the trace grows with
// the square of the edits (20 MB for 1,000), and nobody reads a diff that long.
const maxEdits = 1000

// middle returns the changes between two lists of lines.
func middle(a, b []string) []change {
	reach := map[int]int{1: 0}
	var trace []map[int]int
	for d := 0; d <= min(len(a)+len(b), maxEdits); d++ {
		now := map[int]int{}
		for k := -d; k <= d; k += 2 {
			x := reach[k-1] + 1
			if k == -d || k != d && reach[k-1] < reach[k+1] {
				x = reach[k+1]
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			now[k], reach[k] = x, x
			if x >= len(a) && x-k >= len(b) {
				return joined(backtrack(append(trace, now), len(a), len(b)))
			}
		}
		trace = append(trace, now)
	}
	return []change{{0, len(a), 0, len(b)}}
}

// backtrack returns the single lines that are removed and added, in order. The trace holds, for each number of edits, how far the search
// came on each diagonal. Read from the end, it shows which edit came last.
func backtrack(trace []map[int]int, x, y int) []change {
	var out []change
	for d := len(trace) - 1; d > 0; d-- {
		k, before := x-y, trace[d-1]
		left, fromLeft := before[k-1]
		right, fromRight := before[k+1]
		if fromRight && (!fromLeft || left < right) { // a line of b was added
			px, py := right, right-(k+1)
			out = append(out, change{px, px, py, py + 1})
			x, y = px, py
		} else {
			px, py := left, left-(k-1)
			out = append(out, change{px, px + 1, py, py})
			x, y = px, py
		}
	}
	slices.Reverse(out)
	return out
}

// joined joins changes that touch each other. The search finds single lines, and a hunk shows all removed lines before all added ones.
func joined(all []change) []change {
	var out []change
	for _, c := range all {
		if n := len(out) - 1; n >= 0 && out[n].toA == c.fromA && out[n].toB == c.fromB {
			out[n].toA, out[n].toB = c.toA, c.toB
		} else {
			out = append(out, c)
		}
	}
	return out
}

// group joins changes whose n lines of context meet.
func group(a, b []string, all []change, n int) []Hunk {
	var out []Hunk
	for _, c := range all {
		if last := len(out) - 1; last >= 0 && c.fromA-out[last].changes[len(out[last].changes)-1].toA <= 2*n {
			out[last].changes = append(out[last].changes, c)
		} else {
			out = append(out, Hunk{a, b, []change{c}, n})
		}
	}
	return out
}

// span returns a range of lines in the form for the head of a hunk. patch(1) counts lines from 1, and names the line before an empty range.
func span(from, to int) string {
	switch n := to - from; n {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	default:
		return fmt.Sprintf("%d,%d", from+1, n)
	}
}

// Package unified writes the difference of two texts as a unified diff, as patch(1) reads it. It is pure.
package unified

import (
	"fmt"
	"strings"
)

// context is how many equal lines surround a change.
const context = 3

// Diff returns the unified diff of two texts; empty if they are equal. The names are those of the files.
func Diff(oldName, newName, before, after string) string {
	if before == after {
		return ""
	}
	a, b := split(before), split(after)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", oldName, newName)
	for _, h := range hunks(script(a, b)) {
		h.write(&out, a, b)
	}
	return out.String()
}

// split returns the lines of a text with their ends.
func split(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// change is a run of lines: a[fromA:toA] becomes b[fromB:toB].
type change struct{ fromA, toA, fromB, toB int }

// script returns the changes that turn a into b, by the algorithm of Myers ("An O(ND) Difference Algorithm", 1986), between the equal lines
// at both ends.
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

// maxEdits bounds the search for the shortest script; longer ones replace all lines.
const maxEdits = 4000

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

// backtrack returns the single lines that are removed and added, in order.
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
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// joined joins changes that touch each other.
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

// hunk is a group of changes whose surroundings meet.
type hunk []change

func hunks(all []change) []hunk {
	var out []hunk
	for _, c := range all {
		if n := len(out) - 1; n >= 0 && c.fromA-out[n][len(out[n])-1].toA <= 2*context {
			out[n] = append(out[n], c)
		} else {
			out = append(out, hunk{c})
		}
	}
	return out
}

// write writes a hunk with its surroundings.
func (h hunk) write(out *strings.Builder, a, b []string) {
	first, last := h[0], h[len(h)-1]
	lead := min(context, first.fromA)
	tail := min(context, len(a)-last.toA)
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(first.fromA-lead, last.toA+tail), span(first.fromB-lead, last.toB+tail))
	at := first.fromA - lead
	for _, c := range h {
		lines(out, " ", a[at:c.fromA])
		lines(out, "-", a[c.fromA:c.toA])
		lines(out, "+", b[c.fromB:c.toB])
		at = c.toA
	}
	lines(out, " ", a[at:last.toA+tail])
}

// span returns a range of lines as the head of a hunk has it.
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

// lines writes lines with a sign. A last line without an end is marked as patch(1) expects.
func lines(out *strings.Builder, sign string, all []string) {
	for _, line := range all {
		out.WriteString(sign + line)
		if !strings.HasSuffix(line, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

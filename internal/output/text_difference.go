package output

import (
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/report"
)

const (
	// smallList is the width up to which lists simply stand side by side.
	smallList = 24
	// maxLines is how many lines of each sign are shown on a terminal; the rest is counted.
	maxLines = 5
)

// difference shows a finding whose sides are lists, or strings of many lines, by what differs between them.
type difference struct {
	// count stands for a side in its cell, such as "<3 items>".
	count func(side any) string
	// lines say what differs: items or lines, under a heading where both desired and live moved.
	lines func() []string
}

// differ finds out whether the sides of f are better shown by their difference. Headings tell several differences apart; the
// lone one needs none.
func (t *text) differ(f report.Finding, lone string) (difference, bool) {
	pairs := movedPairs(f)
	for _, p := range pairs {
		a, aList := p.from.([]any)
		b, bList := p.to.([]any)
		lists := aList && bList && max(displayWidth(t.value(a)), displayWidth(t.value(b))) > smallList
		s, aString := p.from.(string)
		u, bString := p.to.(string)
		multiline := aString && bString && strings.Contains(s+u, "\n")
		switch {
		case lists:
			return difference{t.countItems, func() []string { return t.pairLines(pairs, lone, t.itemLines) }}, true
		case multiline:
			return difference{t.countLines, func() []string { return t.pairLines(pairs, lone, t.stringLines) }}, true
		}
	}
	return difference{}, false
}

// pair is two sides of a finding that are not the same, as the cause says.
type pair struct {
	name     string
	from, to any
}

// movedPairs takes from the cause which sides to hold against which. Where old lacks the field, desired against live is
// what the upgrade will do.
func movedPairs(f report.Finding) []pair {
	var pairs []pair
	add := func(name string, from, to any) {
		if from != nil && to != nil {
			pairs = append(pairs, pair{name, from, to})
		}
	}
	if f.Cause != report.CauseDrift {
		add(againstOld, f.Old, f.Desired)
	}
	if f.Cause != report.CauseChange {
		add(liveAgainst, f.Old, f.Live)
	}
	if f.Old == nil {
		add(againstLive, f.Live, f.Desired)
	}
	return pairs
}

// pairLines gives the differences of all pairs. In a part for changes, live is as old, or takes its place.
func (t *text) pairLines(pairs []pair, lone string, diff func(from, to any) []string) []string {
	var lines []string
	for _, p := range pairs {
		if alone := p.name == lone || p.name == againstLive && lone == againstOld; len(pairs) > 1 || !alone {
			lines = append(lines, p.name)
		}
		lines = append(lines, diff(p.from, p.to)...)
	}
	return lines
}

// countItems stands for a list in its cell; another side may be a scalar, or absent.
func (t *text) countItems(side any) string {
	list, ok := side.([]any)
	if !ok {
		return t.side(side)
	}
	return "<" + plural(len(list), "item") + ">"
}

// itemLines gives the items that only one list has. Which items moved within the list is not told: for people that is noise.
func (t *text) itemLines(from, to any) []string {
	a, _ := from.([]any)
	b, _ := to.([]any)
	gone, come := t.onlyIn(a, b), t.onlyIn(b, a)
	if len(gone)+len(come) == 0 {
		return []string{"the same items in another order"}
	}
	both := apart(append(gone, come...))
	return append(t.limited("- ", both[:len(gone)]), t.limited("+ ", both[len(gone):])...)
}

// onlyIn gives the items of a that b has not, or has fewer times. Lists may be long, so it counts rather than searches.
func (t *text) onlyIn(a, b []any) []string {
	spare := map[string]int{}
	for _, item := range b {
		spare[t.value(item)]++
	}
	var only []string
	for _, item := range a {
		v := t.value(item)
		if spare[v]--; spare[v] < 0 {
			only = append(only, v)
		}
	}
	return only
}

// countLines stands for a text in its cell. A line break at the end ends a line and begins none.
func (t *text) countLines(side any) string {
	s, ok := side.(string)
	if !ok || !strings.Contains(s, "\n") {
		return t.side(side)
	}
	return "<" + plural(len(strings.Split(strings.TrimSuffix(s, "\n"), "\n")), "line") + ">"
}

// stringLines gives the lines between the first and the last that differ. That is cruder than a diff and never wrong;
// edits by hand are small and in one place.
func (t *text) stringLines(from, to any) []string {
	a, b := splitLines(from), splitLines(to)
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	gone, come := t.quotedLines(a[start:len(a)-end]), t.quotedLines(b[start:len(b)-end])
	both := apart(append(gone, come...))
	return append(t.limited("- ", numbered(both[:len(gone)], start)), t.limited("+ ", numbered(both[len(gone):], start))...)
}

func splitLines(v any) []string {
	s, _ := v.(string)
	return strings.Split(s, "\n")
}

// quotedLines shows lines; those that blanks hide in are quoted.
func (t *text) quotedLines(lines []string) []string {
	shown := make([]string, len(lines))
	for i, l := range lines {
		plain := l != "" && strings.TrimRight(l, " ") == l && !strings.HasPrefix(l, `"`)
		shown[i] = t.quoted(l, plain)
	}
	return shown
}

// numbered puts their numbers before lines.
func numbered(shown []string, start int) []string {
	out := make([]string, len(shown))
	for i, l := range shown {
		out[i] = fmt.Sprintf("line %d: %s", start+i+1, l)
	}
	return out
}

// limited puts a sign before each line and, on a terminal, counts those beyond the first few.
func (t *text) limited(sign string, all []string) []string {
	var lines []string
	for i, l := range all {
		if t.width > 0 && i == maxLines {
			return append(lines, fmt.Sprintf("%s%d more", sign, len(all)-i))
		}
		lines = append(lines, sign+l)
	}
	return lines
}

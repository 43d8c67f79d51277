package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/lookalike"
	"github.com/helmdrift/helmdrift/internal/output/monospace"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// columns are the sides that the rows of a section show.
type columns int

const (
	// oldLive is for drift: "old → live".
	oldLive columns = iota
	// oldDesired is for fields that nobody touched, so live is as old: "old → desired". An adopted object has no old; there it is
	// "live → desired".
	oldDesired
	// oldDesiredLive is for edits that meet changes, where an arrow would have two meanings: "old | desired | live".
	oldDesiredLive
	// liveBecomes is for the plan of a fix: "live → what it becomes".
	liveBecomes
)

// The headings of the differences within lists and texts.
const (
	desiredAgainstOld  = "desired, against old:"
	desiredAgainstLive = "desired, against live:"
	liveAgainstOld     = "live, against old:"
)

// labels returns the headings of the columns.
func (c columns) labels() []string {
	return [][]string{oldLive: {"old", "live"}, oldDesired: {"old", "desired"}, oldDesiredLive: {"old", "desired", "live"},
		liveBecomes: {"live", "becomes"}}[c]
}

// implies reports whether the columns say which sides a difference is about, so that it needs no heading while it stands alone.
func (c columns) implies(heading string) bool {
	return c == oldDesired && heading != liveAgainstOld || (c == oldLive || c == liveBecomes) && heading == liveAgainstOld
}

// sides are the sides of a finding as they are shown.
type sides struct{ old, desired, live string }

// pick returns the sides that the columns show.
func (c columns) pick(s sides) []string {
	switch {
	case c == oldDesiredLive:
		return []string{s.old, s.desired, s.live}
	case c == liveBecomes:
		return []string{s.live, s.old}
	case c == oldLive:
		return []string{s.old, s.live}
	case s.old == absent:
		return []string{s.live, s.desired}
	}
	return []string{s.old, s.desired}
}

// cells returns the values of a finding that the columns show, and the lines that say what differs within them. Values that are too large
// for a cell are only counted in it.
func (t *text) cells(f report.Finding, c columns) (cells, below []string) {
	switch {
	case f.OwnerOnly && f.Masked:
		return []string{t.mask}, nil
	case f.OwnerOnly:
		return []string{t.side(f.Live)}, nil
	case f.Masked:
		return c.pick(t.maskedSides(f)), nil
	}
	pairs := movedPairs(f, c)
	for _, p := range pairs {
		switch {
		case p.isLongLists(t.style):
			return c.pick(sidesOf(f, t.countItems)), c.differences(pairs, t.itemLines)
		case p.isMultiline():
			return c.pick(sidesOf(f, t.countLines)), c.differences(pairs, t.stringLines)
		}
	}
	s := sidesOf(f, t.side)
	shown := lookalike.Distinguish([]string{s.old, s.desired, s.live})
	return c.pick(sides{shown[0], shown[1], shown[2]}), nil
}

// sidesOf renders old, desired and live with one function.
func sidesOf(f report.Finding, show func(side any) string) sides {
	return sides{show(f.Old), show(f.Desired), show(f.Live)}
}

// maskedSides says of each side whether it has the field and whether it differs from old. The values are not in the report; verdict, cause
// and pointers say this much.
func (t *text) maskedSides(f report.Finding) sides {
	inLive := liveHas(f)
	inDesired := f.Verdict != report.Remove && (f.Managed || f.Verdict != report.Ignore)
	inOld := f.Managed && (f.Verdict != report.Add || f.Cause == report.CauseDrift || f.Cause == report.CauseBoth && !inLive)
	masked := func(there, moved bool) string {
		switch {
		case !there:
			return absent
		case !inOld:
			return t.mask
		case moved:
			return t.mask + " changed"
		default:
			return t.mask + " unchanged"
		}
	}
	s := sides{absent, masked(inDesired, f.Cause != report.CauseDrift), masked(inLive, f.Cause != report.CauseChange)}
	if inOld {
		s.old = t.mask
	}
	return s
}

// liveHas reports whether live has the field. Of a masked finding the pointers say so, except for a key that a manifest has in stringData:
// it has no pointer into the manifest, so the verdict says so.
func liveHas(f report.Finding) bool {
	if !f.Masked {
		return f.Live != nil
	}
	return f.Pointer != "" || f.DesiredPointer == "" && f.Verdict != report.Add
}

const (
	// shortList is the width up to which two lists stand side by side.
	shortList = 24
	// maxLines is how many lines of each sign are shown on a terminal. The others are counted.
	maxLines = 5
)

// pair is two sides of a finding that differ.
type pair struct {
	heading  string
	from, to any
}

// movedPairs returns the sides that differ, as the cause says. If old lacks the field, desired against live is what the upgrade does.
func movedPairs(f report.Finding, c columns) []pair {
	var pairs []pair
	add := func(heading string, from, to any) {
		if from != nil && to != nil {
			pairs = append(pairs, pair{heading, from, to})
		}
	}
	if c == liveBecomes {
		add(liveAgainstOld, f.Live, f.Old)
		return pairs
	}
	if f.Cause != report.CauseDrift {
		add(desiredAgainstOld, f.Old, f.Desired)
	}
	if f.Cause != report.CauseChange {
		add(liveAgainstOld, f.Old, f.Live)
	}
	if f.Old == nil {
		add(desiredAgainstLive, f.Live, f.Desired)
	}
	return pairs
}

// isLongLists reports whether both sides are lists, and too long to stand side by side.
func (p pair) isLongLists(s style) bool {
	a, aList := p.from.([]any)
	b, bList := p.to.([]any)
	return aList && bList && max(monospace.Width(s.value(a)), monospace.Width(s.value(b))) > shortList
}

// isMultiline reports whether both sides are strings, and one of them has several lines.
func (p pair) isMultiline() bool {
	a, aString := p.from.(string)
	b, bString := p.to.(string)
	return aString && bString && strings.Contains(a+b, "\n")
}

// differences returns the lines of all pairs, each pair under a heading unless it stands alone and its columns say what it is.
func (c columns) differences(pairs []pair, diff func(from, to any) []string) []string {
	var lines []string
	for _, p := range pairs {
		if len(pairs) > 1 || !c.implies(p.heading) {
			lines = append(lines, p.heading)
		}
		lines = append(lines, diff(p.from, p.to)...)
	}
	return lines
}

// countItems returns what stands for a list in its cell. Another side may be a scalar, or absent.
func (t *text) countItems(side any) string {
	list, ok := side.([]any)
	if !ok {
		return t.side(side)
	}
	return "<" + english.Count(len(list), "item") + ">"
}

// itemLines returns the items that only one of two lists has. It does not say which items moved, because people do not need it.
func (t *text) itemLines(from, to any) []string {
	a, _ := from.([]any)
	b, _ := to.([]any)
	gone, come := t.onlyIn(a, b), t.onlyIn(b, a)
	if len(gone)+len(come) == 0 {
		return []string{"the same items in another order"}
	}
	both := lookalike.Distinguish(append(gone, come...))
	return append(t.signed("- ", both[:len(gone)]), t.signed("+ ", both[len(gone):])...)
}

// onlyIn returns the items that a has and b has not, or has fewer times. Lists may be long, so it counts instead of searching.
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

// countLines returns what stands for a text of several lines in its cell. A line break at the end begins no further line.
func (t *text) countLines(side any) string {
	s, ok := side.(string)
	if !ok || !strings.Contains(s, "\n") {
		return t.side(side)
	}
	return "<" + english.Count(len(strings.Split(strings.TrimSuffix(s, "\n"), "\n")), "line") + ">"
}

// stringLines returns the lines from the first to the last that differs. That is cruder than a diff and never wrong, and manual edits are
// small and in one place.
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
	both := lookalike.Distinguish(append(gone, come...))
	return append(t.signed("- ", numbered(both[:len(gone)], start)), t.signed("+ ", numbered(both[len(gone):], start))...)
}

// splitLines returns the lines of a text; a value that is no text has one empty line.
func splitLines(v any) []string {
	s, _ := v.(string)
	return strings.Split(s, "\n")
}

// quotedLines shows lines. Those with blanks that nobody would see are quoted.
func (t *text) quotedLines(lines []string) []string {
	shown := make([]string, len(lines))
	for i, l := range lines {
		plain := l != "" && strings.TrimRight(l, " ") == l && !strings.HasPrefix(l, `"`)
		shown[i] = t.quoted(l, plain)
	}
	return shown
}

// numbered puts the number of each line before it.
func numbered(shown []string, start int) []string {
	out := make([]string, len(shown))
	for i, l := range shown {
		out[i] = fmt.Sprintf("line %d: %s", start+i+1, l)
	}
	return out
}

// signed puts a sign before each line. On a terminal it counts all lines but the first few.
func (t *text) signed(sign string, all []string) []string {
	lines := slices.Clone(t.firstNames(all, maxLines))
	for i, l := range lines {
		lines[i] = sign + l
	}
	return lines
}

package sides

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/lookalike"
	"github.com/helmdrift/helmdrift/internal/output/monospace"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// view is the text that the values are for.
type view struct{ *layout.Text }

// ColumnGap stands between three columns.
const ColumnGap = " | "

// Columns are the sides that the rows of a section show.
type Columns int

const (
	// OldLive is for drift and for the plan of a fix: "deployed → live now". A word says what is about to happen to the live value.
	OldLive Columns = iota
	// OldDesired is for fields that nobody touched, so live equals old: "deployed → desired". An adopted object has no old side, so it
	// has "live → desired".
	OldDesired
	// OldDesiredLive is for edits that meet changes, where an arrow would have two meanings: "deployed | desired | live now".
	OldDesiredLive
)

// These are the headings of the differences within lists and texts.
const (
	desiredAgainstOld  = "desired, against deployed:"
	desiredAgainstLive = "desired, against live:"
	liveAgainstOld     = "live, against deployed:"
)

// Labels returns the headings of the columns.
func (c Columns) Labels() []string {
	return [][]string{
		OldLive: {"deployed", "live now"}, OldDesired: {"deployed", "desired"}, OldDesiredLive: {"deployed", "desired", "live now"},
	}[c]
}

// implies reports whether the columns say which sides a difference is about. Then a single difference needs no heading.
func (c Columns) implies(heading string) bool {
	return c == OldDesired && heading != liveAgainstOld || c == OldLive && heading == liveAgainstOld
}

// three are the sides of a finding as they are shown.
type three struct{ old, desired, live string }

// pick returns the sides that the columns show.
func (c Columns) pick(s three) []string {
	switch {
	case c == OldDesiredLive:
		return []string{s.old, s.desired, s.live}
	case c == OldLive:
		return []string{s.old, s.live}
	case s.old == layout.Absent:
		return []string{s.live, s.desired}
	}
	return []string{s.old, s.desired}
}

// Cells returns the values of a finding that the columns show, and the lines that say what differs within them. Values that are too large
// for a cell are only counted in it.
func Cells(text *layout.Text, f report.Finding, c Columns) (cells, below []string) {
	t := view{text}
	switch {
	case f.OwnerOnly && f.Masked:
		return []string{t.Mask}, nil
	case f.OwnerOnly:
		return []string{t.Side(f.Live)}, nil
	case f.Masked:
		return c.pick(t.maskedSides(f)), nil
	}
	pairs := movedPairs(f, c)
	for _, p := range pairs {
		switch {
		case p.isLongLists(t.Style):
			return c.pick(sidesOf(f, t.countItems)), c.differences(pairs, t.itemLines)
		case p.isMultiline() && c == OldDesiredLive:
			return c.pick(sidesOf(f, t.countLines)), c.differences(pairs, t.hunks)
		case p.isMultiline():
			return []string{changedLines(p)}, c.differences(pairs, t.hunks)
		}
	}
	s := sidesOf(f, t.Side)
	shown := lookalike.Distinguish([]string{s.old, s.desired, s.live})
	return c.pick(three{shown[0], shown[1], shown[2]}), nil
}

// sidesOf renders old, desired and live with one function.
func sidesOf(f report.Finding, show func(side any) string) three {
	return three{show(f.Old), show(f.Desired), show(f.Live)}
}

// maskedSides says of each side whether it has the field and whether it differs from old. The values are not in the report, so it uses the
// verdict, the cause and the pointers.
func (t view) maskedSides(f report.Finding) three {
	inLive := LiveHas(f)
	inDesired := f.Verdict != report.Remove && (f.Managed || f.Verdict != report.Ignore)
	inOld := f.Managed && (f.Verdict != report.Add || f.Cause == report.CauseDrift || f.Cause == report.CauseBoth && !inLive)
	masked := func(there, moved bool) string {
		switch {
		case !there:
			return layout.Absent
		case !inOld:
			return t.Mask
		case moved:
			return t.Mask + " changed"
		default:
			return t.Mask + " unchanged"
		}
	}
	s := three{layout.Absent, masked(inDesired, f.Cause != report.CauseDrift), masked(inLive, f.Cause != report.CauseChange)}
	if inOld {
		s.old = t.Mask
	}
	return s
}

// LiveHas reports whether live has the field. The pointers of a masked finding say so. A key that a manifest has in stringData has no
// pointer into the manifest, so there the verdict says it.
func LiveHas(f report.Finding) bool {
	if !f.Masked {
		return f.Live != nil
	}
	return f.Pointer != "" || f.DesiredPointer == "" && f.Verdict != report.Add
}

const (
	// shortList is the greatest width of two lists that stand side by side.
	shortList = 24
	// maxLines is how many lines of each sign are shown on a terminal. The others are counted.
	maxLines = 5
)

// pair is two sides of a finding that differ.
type pair struct {
	heading  string
	from, to any
}

// movedPairs returns the sides that differ according to the cause. If old lacks the field, the upgrade turns live into desired.
func movedPairs(f report.Finding, c Columns) []pair {
	var pairs []pair
	add := func(heading string, from, to any) {
		if from != nil && to != nil {
			pairs = append(pairs, pair{heading, from, to})
		}
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
func (p pair) isLongLists(s layout.Style) bool {
	a, aList := p.from.([]any)
	b, bList := p.to.([]any)
	return aList && bList && max(monospace.Width(s.Value(a)), monospace.Width(s.Value(b))) > shortList
}

// differences returns the lines of all pairs, each pair under a heading unless it stands alone and its columns say what it is.
func (c Columns) differences(pairs []pair, diff func(from, to any) []string) []string {
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
func (t view) countItems(side any) string {
	list, ok := side.([]any)
	if !ok {
		return t.Side(side)
	}
	return "(" + english.Count(len(list), "item") + ")"
}

// itemLines returns the items that only one of two lists has. It does not say which items moved, because people do not need to know.
func (t view) itemLines(from, to any) []string {
	a, _ := from.([]any)
	b, _ := to.([]any)
	gone, come := t.onlyIn(a, b), t.onlyIn(b, a)
	if len(gone)+len(come) == 0 {
		return []string{"the same items in another order"}
	}
	both := lookalike.Distinguish(append(gone, come...))
	return append(t.signed("- ", both[:len(gone)]), t.signed("+ ", both[len(gone):])...)
}

// onlyIn returns the items that a has and b lacks or has fewer times. Lists may be long, so it counts instead of searching.
func (t view) onlyIn(a, b []any) []string {
	spare := map[string]int{}
	for _, item := range b {
		spare[t.Value(item)]++
	}
	var only []string
	for _, item := range a {
		v := t.Value(item)
		if spare[v]--; spare[v] < 0 {
			only = append(only, v)
		}
	}
	return only
}

// signed puts a sign before each line. On a terminal it counts all lines but the first few.
func (t view) signed(sign string, all []string) []string {
	lines := slices.Clone(t.FirstNames(all, maxLines))
	for i, l := range lines {
		lines[i] = sign + l
	}
	return lines
}

// maxInside is how many changes inside a document are shown on a terminal. The others are counted.
const maxInside = 10

// Inside returns the lines that say what differs inside the documents of a finding, below a row whose text begins at column indent. Each
// line begins with the path of the finding, so that grep finds all of them, unless the terminal is too narrow for that.
func Inside(text *layout.Text, f report.Finding, c Columns, indent int) []string {
	t := view{text}
	if f.Inside == nil {
		return nil
	}
	lines := t.FirstNames(InsideLines(t.Text, f.Inside, c), maxInside)
	if f.Inside.More > 0 {
		lines = append(lines, english.Count(f.Inside.More, "more change"))
	}
	sign := t.Either("» ", ">> ")
	lead := t.Escape(f.Path) + " " + sign
	for _, l := range lines {
		if t.Width > 0 && monospace.Width(lead+l) > t.Width-indent-monospace.Width(t.Gutter) {
			lead = sign
		}
	}
	for i := range lines {
		lines[i] = lead + lines[i]
	}
	return lines
}

// InsideLines returns a line for each change inside documents.
func InsideLines(text *layout.Text, in *report.Inside, c Columns) []string {
	t := view{text}
	if in.OnlyFormatting {
		return []string{"only formatting"}
	}
	lines := make([]string, len(in.Changes))
	for i, change := range in.Changes {
		lines[i] = t.Escape(change.Path) + "  " + t.insideChange(change, c)
	}
	return lines
}

// insideChange says what happened to one place of a document. Below three columns, it names the side that it is about.
func (t view) insideChange(change report.InsideChange, c Columns) string {
	switch {
	case c != OldDesiredLive || change.Cause == report.CauseBoth:
		return t.became(change, c)
	case change.Cause == report.CauseChange:
		return "desired: " + t.became(change, OldDesired)
	}
	return "live: " + t.became(change, OldLive)
}

// became says what became of one place, by the sides that the columns show.
func (t view) became(change report.InsideChange, c Columns) string {
	said := t.Escape(change.Change)
	if change.Masked {
		return said + " " + t.Mask
	}
	if change.Change == report.InsideReordered {
		return said
	}
	shown := lookalike.Distinguish([]string{t.Side(change.Old), t.Side(change.Desired), t.Side(change.Live)})
	cells := c.pick(three{shown[0], shown[1], shown[2]})
	switch {
	case c == OldDesiredLive:
		for i, label := range c.Labels() {
			cells[i] = label + " " + cells[i]
		}
		return strings.Join(cells, ColumnGap)
	case change.Change == report.InsideChanged:
		return strings.Join(cells, t.Arrow)
	case isTree(change.Old) || isTree(change.Desired) || isTree(change.Live):
		return said
	}
	return said + ": " + strings.Join(slices.DeleteFunc(cells, func(cell string) bool { return cell == layout.Absent }), t.Arrow)
}

// isTree reports whether a value is a map or a list, which a line has no room for.
func isTree(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

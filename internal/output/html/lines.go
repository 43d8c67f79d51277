package html

import (
	"strings"

	"github.com/helmdrift/helmdrift/internal/unified"
)

// marked are the lines that differ in the sides of a finding, for the script. The sides are those of the finding that have several lines,
// or are compared with one that has. Each pair of numbers is a first line, counted from 0, and the line after the last.
type marked struct {
	Old     []int `json:"old,omitempty"`
	Desired []int `json:"desired,omitempty"`
	Live    []int `json:"live,omitempty"`
}

// mark compares the lines of the sides: old with live, or with desired if live is as old, and the others with old.
func (f *field) mark() {
	desired := f.Desired
	if desired == true {
		desired = f.Old
	}
	contrast := f.Live
	if f.Live == f.Old {
		contrast = desired
	}
	_, old := changedLines(contrast, f.Old)
	_, will := changedLines(f.Old, desired)
	_, is := changedLines(f.Old, f.Live)
	if len(old)+len(will)+len(is) > 0 {
		f.Marked = &marked{old, will, is}
	}
}

// changedLines returns the lines of two sides that differ, as marked has them. It returns none if both have one line, or one is absent.
func changedLines(from, to any) (removed, added []int) {
	if from == nil || to == nil || from == to {
		return nil, nil
	}
	before, after := plainText(from), plainText(to)
	if !strings.Contains(before+after, "\n") {
		return nil, nil
	}
	// With a line break at both ends, a line is the same line whether another follows it or not.
	for _, change := range unified.Join(unified.Hunks(unified.Part{Before: before + "\n", After: after + "\n"}), 0) {
		if first, end := change.Old(); first < end {
			removed = append(removed, first, end)
		}
		if first, end := change.New(); first < end {
			added = append(added, first, end)
		}
	}
	return removed, added
}

const (
	// foldFrom is from how many equal lines on most of them are folded, and foldKeep how many stay on each side of the fold.
	foldFrom, foldKeep = 9, 3
)

// plainPart is a run of lines of a value. Mark is the class of lines that differ, and Fold is how many lines are folded; it is 0 for lines
// that are shown.
type plainPart struct {
	Lines []string
	Mark  string
	Fold  int
}

// partsOf divides a value into its lines that differ, which get a class, and the runs of equal lines between them. A value without
// differences is one part.
func partsOf(text string, ranges []int, class string) (parts []plainPart) {
	lines := strings.Split(text, "\n")
	if len(ranges) == 0 {
		return []plainPart{{Lines: lines}}
	}
	at := 0
	for i := 0; i < len(ranges); i += 2 {
		from, to := min(ranges[i], len(lines)), min(ranges[i+1], len(lines))
		parts = append(parts, equalParts(lines[at:from], at > 0, true)...)
		parts = append(parts, plainPart{Lines: lines[from:to], Mark: class})
		at = to
	}
	return append(parts, equalParts(lines[at:], true, false)...)
}

// equalParts folds a long run of equal lines, apart from those beside a difference.
func equalParts(lines []string, isBehind, isBefore bool) []plainPart {
	if len(lines) < foldFrom {
		return []plainPart{{Lines: lines}}
	}
	from, to := 0, len(lines)
	if isBehind {
		from = foldKeep
	}
	if isBefore {
		to -= foldKeep
	}
	return []plainPart{{Lines: lines[:from]}, {Lines: lines[from:to], Fold: to - from}, {Lines: lines[to:]}}
}

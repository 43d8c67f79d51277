package output

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// absent stands for a side without the field. No value looks like it: strings that begin with "<" are quoted.
const absent = "<absent>"

// value gives one value on one line: strings as they are where that is clear, everything else as JSON.
func (t *text) value(v any) string {
	if s, ok := v.(string); ok {
		return t.quoted(s, plainValue(s))
	}
	encoded, err := encodeJSON(v, "")
	if err != nil {
		return t.quoted(fmt.Sprint(v), false) // a value that no API server can have sent
	}
	return t.text(strings.TrimSuffix(string(encoded), "\n"))
}

// label gives a name: unquoted unless it could be taken for something around it.
func (t *text) label(s string) string {
	return t.quoted(s, s != "" && !strings.ContainsAny(s, ` "`))
}

// word gives what should be a plain word, such as a kind or a manager, and may begin a line.
func (t *text) word(s string) string {
	odd := func(r rune) bool { return !letter(r) && !strings.ContainsRune("0123456789_./-", r) }
	return t.quoted(s, s != "" && letter(rune(s[0])) && !strings.ContainsFunc(s, odd))
}

// quoted gives s between quotes unless it is plain and has nothing to escape.
func (t *text) quoted(s string, plain bool) string {
	if safe := t.text(s); plain && safe == s {
		return safe
	}
	// Only what is quoted has escapes, so only there a backslash needs one.
	return `"` + t.text(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)) + `"`
}

// plainValue tells whether a string needs no quotes: it reads like no number, keyword, JSON or sign of ours, and its
// blanks cannot be taken for the end of a column.
func plainValue(s string) bool {
	if s == "" || strings.TrimSpace(s) != s || strings.ContainsAny(s[:1], "\"'`<{[(*|") || strings.HasPrefix(s, "•") {
		return false
	}
	// What we put between columns and remarks: a value with one of these could pretend to be several.
	for _, spoof := range []string{"  ", " → ", " -> ", " | ", " · "} {
		if strings.Contains(s, spoof) {
			return false
		}
	}
	_, err := strconv.ParseFloat(s, 64)
	return err != nil && s != "true" && s != "false" && s != "null"
}

// cells are the three sides of a finding, ready to print.
type cells struct{ old, desired, live string }

// cellsOf gives the sides of a finding of a part.
func (t *text) cellsOf(f report.Finding, p part) (cells, []string) {
	switch {
	case p.back && f.Masked:
		c := t.maskedCells(f)
		c.old, c.live = c.live, c.old
		return c, nil
	case p.back:
		f.Old, f.Live = f.Live, f.Old
	}
	return t.cells(f, p.lone)
}

// cells gives the sides of a finding. Sides too large for a cell are counted there, and lines of difference say the rest.
func (t *text) cells(f report.Finding, lone string) (cells, []string) {
	if f.Masked {
		return t.maskedCells(f), nil
	}
	sides := apart([]string{t.side(f.Old), t.side(f.Desired), t.side(f.Live)})
	c := cells{sides[0], sides[1], sides[2]}
	d, differ := t.differ(f, lone)
	if !differ {
		return c, nil
	}
	counted := cells{d.count(f.Old), d.count(f.Desired), d.count(f.Live)}
	return counted, d.lines()
}

// side gives one side of a finding. A nil side is one without the field: the Report has no other nulls at the top.
func (t *text) side(v any) string {
	if v == nil {
		return absent
	}
	return t.value(v)
}

// maskedCells says of each side no more than whether it is there and whether it moved away from old. The values are not
// in the Report; verdict, cause and pointers say this much.
func (t *text) maskedCells(f report.Finding) cells {
	live := liveHas(f)
	desired := f.Verdict != report.Remove && (f.Managed || f.Verdict != report.Ignore)
	old := f.Managed && (f.Verdict != report.Add || f.Cause == report.CauseDrift || f.Cause == report.CauseBoth && !live)
	masked := func(there, moved bool) string {
		switch {
		case !there:
			return absent
		case !old:
			return t.mask
		case moved:
			return t.mask + " changed"
		default:
			return t.mask + " unchanged"
		}
	}
	c := cells{absent, masked(desired, f.Cause != report.CauseDrift), masked(live, f.Cause != report.CauseChange)}
	if old {
		c.old = t.mask
	}
	return c
}

// liveHas tells whether live has the field. Of a masked finding the pointers say so, but a key that a manifest has in
// stringData has no pointer into the manifest; then the verdict does.
func liveHas(f report.Finding) bool {
	if !f.Masked {
		return f.Live != nil
	}
	return f.Pointer != "" || f.DesiredPointer == "" && f.Verdict != report.Add
}

package manifestdiff

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/unified"
)

// side is the manifest before or after the change, line by line.
type side struct {
	// secret and titles say of each line whether it is secret, and of which object it is.
	secret []bool
	titles []string
}

// add adds a text of a document.
func (s *side) add(d *differ, text, title string) {
	lines := secretLines(text, d.comparison.SecretPaths)
	for i, line := range strings.SplitAfter(text, "\n")[:len(lines)] {
		s.secret = append(s.secret, !d.show && (lines[i] || d.comparison.Scrub(line) != line))
		s.titles = append(s.titles, title)
	}
}

// The reasons why a hunk is left out.
const (
	masked  = "masked"
	unclear = "a line has characters that a terminal or a CI agent obeys"
)

// hunks returns the hunks of all documents.
func (d *differ) hunks() string {
	var before, after side
	var parts []unified.Part
	for _, document := range d.documents {
		before.add(d, document.before(), document.title)
		after.add(d, document.after(), document.title)
		parts = append(parts, unified.Part{Before: document.before(), After: document.after()})
	}
	var hunks strings.Builder
	skew := 0
	for _, whole := range unified.Hunks(parts...) {
		for _, h := range d.shown(whole, &before, &after) {
			title := titleOf(h, &before, &after)
			if why := d.problem(h, &before, &after); why != "" {
				skew -= h.Added()
				d.leaveOut(title+": a change", why)
				continue
			}
			hunks.WriteString(h.Text(skew, escape.Text(d.scrub(title), false)))
		}
	}
	return hunks.String()
}

// shown returns the changes of a hunk. Those that cannot be shown stand alone; the others between two of these have as much context as all
// of them can have, down to none.
func (d *differ) shown(whole unified.Hunk, before, after *side) []unified.Hunk {
	var out, run []unified.Hunk
	hasProblem := func(h unified.Hunk) bool { return d.problem(h, before, after) != "" }
	join := func() {
		parts := run
		for n := 3; n >= 0; n-- {
			if parts = unified.Join(run, n); !slices.ContainsFunc(parts, hasProblem) {
				break
			}
		}
		out, run = append(out, parts...), nil
	}
	for _, change := range whole.Changes() {
		if hasProblem(change) {
			join()
			out = append(out, change)
		} else {
			run = append(run, change)
		}
	}
	join()
	return out
}

// titleOf returns the title of the object that a hunk changes first.
func titleOf(h unified.Hunk, before, after *side) string {
	line, isOld := h.First()
	if isOld {
		return before.titles[line]
	}
	return after.titles[line]
}

// problem returns why a hunk cannot be shown; empty if it can.
func (d *differ) problem(h unified.Hunk, before, after *side) string {
	fromA, toA := h.Old()
	fromB, toB := h.New()
	for i := fromA; i < toA; i++ {
		if before.secret[i] {
			return masked
		}
	}
	for i := fromB; i < toB; i++ {
		if after.secret[i] {
			return masked
		}
	}
	text := h.Text(0, "")
	_, lines, _ := strings.Cut(text, "\n")
	if !d.show && d.comparison.Scrub(unsigned(lines)) != unsigned(lines) {
		return masked
	}
	for line := range strings.Lines(lines) {
		if !isHarmless(line) {
			return unclear
		}
	}
	return ""
}

// unsigned returns the lines of a hunk without their signs.
func unsigned(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		b.WriteString(line[1:])
	}
	return b.String()
}

// isHarmless reports whether a line of a hunk may be printed as it is. A tab is harmless, and so is a carriage return at the end. GitHub's
// runner removes the blanks before a line, so the sign of a context line does not protect from "::".
func isHarmless(line string) bool {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	if !utf8.ValidString(line) || line[0] == ' ' && strings.HasPrefix(strings.TrimSpace(line), "::") {
		return false
	}
	for i, r := range line {
		if r != '\t' && escape.IsHidden(r) || r == '#' && escape.StartsCommand(line[i:]) {
			return false
		}
	}
	return true
}

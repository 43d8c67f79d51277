package e2e

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// answered is a question of fix with the answer that the page shows.
var answered = regexp.MustCompile(`(?m)\[y/N\] ?([yn])$`)

// overwritten is the beginning of a line that a terminal no longer shows, such as a line about progress.
var overwritten = regexp.MustCompile(`(?m)^[^\n]*\r`)

// These differ between two runs of a command: ages, names of pods, durations, and the blanks that align columns.
var (
	someAge  = regexp.MustCompile(`just now|\b\d+ (?:s|min|h|d)\b(?: ago)?`)
	podName  = regexp.MustCompile(`-[0-9a-f]{8,10}-[a-z0-9]{5}\b`)
	clock    = regexp.MustCompile(`\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?`)
	blanks   = regexp.MustCompile(`  +`)
	lineEnds = regexp.MustCompile(`(?m)[ \t\r]+$`)
)

// onScreen returns what a terminal shows of an output.
func onScreen(text string) string {
	return overwritten.ReplaceAllString(strings.ReplaceAll(text, "\r\n", "\n"), "")
}

// normalOutput returns an output without what differs between two runs.
func normalOutput(text string) string {
	text = onScreen(text)
	text = someAge.ReplaceAllString(text, "AGE")
	text = podName.ReplaceAllString(text, "-POD")
	text = clock.ReplaceAllString(text, "TIME")
	return strings.TrimSpace(lineEnds.ReplaceAllString(blanks.ReplaceAllString(text, "  "), ""))
}

// sameOutput reports whether a command prints what a page shows. A line "..." of the page stands for any lines.
func sameOutput(shown, got string) bool {
	lines := strings.Split(normalOutput(got), "\n")
	parts := strings.Split("\n"+normalOutput(shown)+"\n", "\n...\n")
	for i, part := range parts {
		var want []string
		if part = strings.Trim(part, "\n"); part != "" {
			want = strings.Split(part, "\n")
		}
		at := indexOf(lines, want)
		last := i == len(parts)-1
		switch {
		case at < 0, i == 0 && at > 0, last && i == 0 && len(lines) != len(want):
			return false
		case last && i > 0 && len(want) > 0:
			return len(lines) >= len(want) && slices.Equal(lines[len(lines)-len(want):], want)
		}
		lines = lines[at+len(want):]
	}
	return true
}

// indexOf returns where the lines of part are in lines, or -1.
func indexOf(lines, part []string) int {
	for i := 0; i+len(part) <= len(lines); i++ {
		if slices.Equal(lines[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}

// TestSameOutput checks what counts as the output of a page.
func TestSameOutput(t *testing.T) {
	for _, c := range []struct {
		shown, got string
		want       bool
	}{
		{"a  b, 3 min ago\n", "a      b, just now", true},
		{"1 known since 2026-11-27\n", "1 known since 2026-12-01", true},
		{"a\n...\nd\n", "a\nb\nc\nd\n", true},
		{"a\n...\n", "a\nb\n", true},
		{"...\nb\n...\nd\n", "a\nb\nc\nd", true},
		{"a\n...\nd\n", "a\nb\n", false},
		{"a\n", "a\nb\n", false},
		{"a\nb\n", "a\n", false},
		{"Put back? [y/N] y\nfixed\n", "Put back? [y/N] y\r\nfixed\r\n", true},
		{"Put back? [y/N] n\ndeclined\n", "Put back? [y/N] n\r\nfixed\r\n", false},
		{"Put back? [y/N] y\nfixed\n", "Put back? [y/N] y\r\nreading 5 objects\r                 \rfixed\r\n", true},
		{"5 fields\n", "4 fields\n", false},
	} {
		if got := sameOutput(c.shown, c.got); got != c.want {
			t.Errorf("sameOutput(%q, %q) = %t", c.shown, c.got, got)
		}
	}
}

// Package monospace fits text into the columns of a terminal, where a character takes one column, two (East Asian) or none (a combining
// mark).
//
//	Width                                     how many columns a text takes
//	Pad                                       fills a text up with blanks
//	KeepStart, KeepEnds, KeepPathEnd,
//	DropColumns                               shorten a text: what readers need least goes first
//	Fit                                       divides the columns of a line among its parts
//	Wrap                                      breaks a text into lines
//
// Texts are escaped before, so they have no control characters. The package knows nothing of reports. More tests are TestEscape and
// the golden files of internal/output, which have texts in several widths.
package monospace

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/helmdrift/helmdrift/internal/escape"
)

// Width returns the number of terminal columns that s takes. s is escaped, so the only characters of no width are combining marks.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth returns the number of terminal columns that a rune takes: none for a combining mark, two for wide East Asian characters.
func runeWidth(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		return 1
	case escape.IsMark(r):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

// Pad fills s with blanks up to n columns.
func Pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-Width(s)))
}

// KeepStart shortens s to n columns. It drops the end.
func KeepStart(s string, n int, ellipsis string) string {
	if Width(s) <= n {
		return s
	}
	return firstColumns(s, n-Width(ellipsis)) + ellipsis
}

// firstColumns returns the beginning of s that takes at most n columns.
func firstColumns(s string, n int) string {
	for i, r := range s {
		if n -= runeWidth(r); n < 0 {
			return s[:i]
		}
	}
	return s
}

// keepEnd shortens s to n columns. It drops the beginning.
func keepEnd(s string, n int, ellipsis string) string {
	if Width(s) <= n {
		return s
	}
	return ellipsis + DropColumns(s, Width(s)-n+Width(ellipsis))
}

// KeepEnds shortens s to n columns. It drops the middle.
func KeepEnds(s string, n int, ellipsis string) string {
	if Width(s) <= n {
		return s
	}
	room := max(0, n-Width(ellipsis))
	return KeepStart(s, room-room/2, "") + ellipsis + DropColumns(s, Width(s)-room/2)
}

// DropColumns returns s without its first n columns, and without the combining marks on the last of them.
func DropColumns(s string, n int) string {
	for i, r := range s {
		if w := runeWidth(r); n > 0 || w == 0 {
			n -= w
			continue
		}
		return s[i:]
	}
	return ""
}

// KeepPathEnd shortens a path to n columns. It drops the beginning, up to the beginning of a step if one is near: readers know
// spec.template.spec by heart and need the end. The path is for people only; no code reads it.
func KeepPathEnd(path string, n int, ellipsis string) string {
	short := keepEnd(path, n, ellipsis)
	tail := strings.TrimPrefix(short, ellipsis)
	if i := strings.IndexAny(tail, ".["); short != path && i >= 0 && i < len(tail)/2 {
		return ellipsis + strings.TrimPrefix(tail[i:], ".")
	}
	return short
}

// Fit divides room among columns of the wanted widths. Narrow columns get what they want, the others equal parts of the rest.
func Fit(want []int, room int) []int {
	got := make([]int, len(want))
	for left := len(want); left > 0; {
		share, served := max(1, room/left), false
		for i, w := range want {
			if got[i] == 0 && w <= share {
				got[i], served = max(1, w), true
				room -= got[i]
				left--
			}
		}
		if served {
			continue
		}
		for i := range got {
			if got[i] == 0 {
				got[i] = share
			}
		}
		return got
	}
	return got
}

// Wrap breaks s at blanks into lines of n columns. It breaks a word only if the word is longer than a line. n is at least 2. It looks at
// each character a few times, however long s is, because foreign texts may be megabytes.
func Wrap(s string, n int) []string {
	var lines []string
	var line strings.Builder
	taken := 0 // the columns of the line
	for _, word := range words(s) {
		size := Width(word)
		if line.Len() > 0 && taken+1+size <= n {
			line.WriteString(" " + word)
			taken += 1 + size
			continue
		}
		if line.Len() > 0 {
			lines = append(lines, line.String())
			line.Reset()
		}
		for size > n {
			head := firstColumns(word, n)
			lines, word, size = append(lines, head), word[len(head):], size-Width(head)
		}
		line.WriteString(word)
		taken = size
	}
	return append(lines, line.String())
}

// words splits s at blanks. A "·" that stands alone stays with the word before it, so that no line begins with it.
func words(s string) []string {
	var all []string
	start, end := 0, 0 // where the last word is in s
	for _, w := range strings.Split(s, " ") {
		if w == "·" && len(all) > 0 {
			end += len(" ·")
			all[len(all)-1] = s[start:end]
			continue
		}
		if len(all) > 0 {
			start = end + len(" ")
		}
		end = start + len(w)
		all = append(all, w)
	}
	return all
}

// SharedBytes returns the length of the longest beginning that two texts share, at the edge of a character.
func SharedBytes(a, b string) int {
	for i, r := range a {
		if !strings.HasPrefix(b[min(i, len(b)):], string(r)) {
			return i
		}
	}
	return len(a)
}

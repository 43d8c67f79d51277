package output

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxMarks is how many combining marks one character may carry. Real scripts need three; more only smears over other lines.
const maxMarks = 4

// hidden tells whether a character shows as anything but its own glyph: control, bidi, zero width, private use, unassigned,
// and every blank but the space, since a no-break space that looks like a space is a drift nobody would find.
func hidden(r rune) bool {
	return !strconv.IsPrint(r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) ||
		unicode.Is(unicode.Variation_Selector, r)
}

// startsCommand tells whether s begins with "##[", "##vso[", "##teamcity[" or the like. CI agents obey these wherever in
// a line they stand, so a prefix is no protection from them.
func startsCommand(s string) bool {
	rest, ok := strings.CutPrefix(s, "##")
	if !ok {
		return false
	}
	return strings.HasPrefix(strings.TrimLeftFunc(rest, letter), "[")
}

func letter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// escapeText is the one escaping function of the text format. What it returns stays on its line and does nothing to a
// terminal; with ascii it is ASCII throughout. The escapes are for reading, not for decoding: a backslash stays as it is.
func escapeText(s string, ascii bool) string {
	var b strings.Builder
	marks := maxMarks // a mark with no character before it would sit on our own sign or blank
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if isMark(r) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case hidden(r) || marks > maxMarks || ascii && r >= utf8.RuneSelf || r == '#' && startsCommand(s):
			b.WriteString(textEscape(r))
		default:
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}

// isMark tells whether a character combines with the one before it. The first of them is U+0300.
func isMark(r rune) bool { return r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me) }

// textEscape writes a character as Go and most other languages would, so that readers can look it up.
func textEscape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < utf8.RuneSelf:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	default:
		return fmt.Sprintf(`\U%08x`, r)
	}
}

// escapeJSON is the one escaping function of JSON. It works on encoded text, where everything beyond the structure stands
// inside string literals, so an escape in place of a character decodes to that character.
func escapeJSON(encoded string) string { return escapeLiteral(encoded, jsonEscape) }

// escapeYAML is the same for one double-quoted YAML scalar. YAML has no surrogate pairs and an escape of eight digits instead.
func escapeYAML(quoted string) string { return escapeLiteral(quoted, yamlEscape) }

// escapeLiteral escapes what is hidden or begins a command. Quotes and backslashes are the encoder's business, and done.
func escapeLiteral(s string, escape func(rune) string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n': // only ever a line end of the document; in a literal it is escaped already
			b.WriteByte('\n')
		case hidden(r) || r == '#' && startsCommand(s[i:]):
			b.WriteString(escape(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func jsonEscape(r rune) string {
	if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

func yamlEscape(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

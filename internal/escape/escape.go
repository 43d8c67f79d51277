// Package escape makes foreign texts harmless: names, values and messages that come from a cluster, a chart or a server. It has a
// function for each output format, and for the messages of the command. TestEscape and FuzzEscape of internal/output test what each format
// writes, and FuzzHTML there tests pages.
package escape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxMarks is how many combining marks one character may carry. Real scripts need three; more only smear over other lines.
const maxMarks = 4

// Text returns text in a form that is safe within a line on a terminal or in the log of a CI job. Whoever can edit a label, write a
// template or answer in place of the API server can write to both, so each foreign text goes through this function, on stdout and on
// stderr.
//
// Text keeps printable characters and the space. It replaces by an escape in Go's form, such as \x1b, \n or \u202e,
//
//   - control characters, which move the cursor, change colours and titles, or end the line;
//   - bidirectional overrides and isolates, which show characters in another order than programs read them;
//   - characters without a glyph of their own: zero-width characters, variation selectors, tags, private use, unassigned ones, and every
//     blank but the space. A no-break space that looks like a space is a difference that nobody would find;
//   - a combining mark without a character before it, or beyond maxMarks, because it would sit on something else;
//   - bytes that are not UTF-8, because a terminal may take them for control characters of eight bits;
//   - the "#" that begins "##[", "##vso[" or the like, which CI agents obey anywhere in a line;
//   - everything beyond ASCII, with ascii.
//
// Text keeps letters that look like others, because most names in Cyrillic or Greek are what they seem. If the two values of a finding
// look the same and differ, distinguish shows their code points. The escapes are for reading and not for decoding: a backslash stays as
// it is, so escaping twice is escaping once.
func Text(text string, ascii bool) string {
	var b strings.Builder
	marks := maxMarks // a mark at the beginning would combine with the character before the text
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if IsMark(r) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case IsHidden(r) || marks > maxMarks || ascii && r >= utf8.RuneSelf || r == '#' && StartsCommand(text):
			b.WriteString(Rune(r))
		default:
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

// Lines escapes a message of several lines, as templates, Helm and webhooks write them, and keeps its line breaks. Each line but the first
// begins with a Gutter, since GitHub's runner obeys a line that begins with "::". The caller puts a word of its own before the first.
func Lines(message string, ascii bool) string {
	return strings.Join(SplitLines(message, ascii), "\n"+Gutter(ascii))
}

// SplitLines returns the lines of a message, each escaped. Blank lines around the message and blanks at the end of a line are dropped.
func SplitLines(message string, ascii bool) []string {
	lines := strings.Split(strings.Trim(strings.ReplaceAll(message, "\r\n", "\n"), " \n"), "\n")
	for i, l := range lines {
		lines[i] = Text(strings.TrimRight(l, " "), ascii)
	}
	return lines
}

// Gutter returns the prefix of the second and the later lines of a text.
func Gutter(ascii bool) string {
	if ascii {
		return "| "
	}
	return "│ "
}

// Writer returns a writer that passes each write through Lines to w. Loggers write each message with one write.
func Writer(w io.Writer, ascii bool) io.Writer { return escapeWriter{w, ascii} }

// escapeWriter escapes what is written to it. Each Write is one message of one or more lines.
type escapeWriter struct {
	to    io.Writer
	ascii bool
}

// Write writes the message p.
func (w escapeWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, Lines(string(p), w.ascii)+"\n"); err != nil {
		return 0, err
	}
	return len(p), nil
}

// IsHidden reports whether a character has no glyph of its own: control, bidi, zero width, private use, unassigned, and every blank but
// the space.
func IsHidden(r rune) bool {
	return !strconv.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// IsMark reports whether a character combines with the one before it. The first such character is U+0300.
func IsMark(r rune) bool { return r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me) }

// IsLetter reports whether r is a letter of ASCII.
func IsLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// StartsCommand reports whether s begins with "##[", "##vso[", "##teamcity[" or the like. CI agents obey these anywhere in a line, so a
// prefix is no protection.
func StartsCommand(s string) bool {
	rest, ok := strings.CutPrefix(s, "##")
	return ok && strings.HasPrefix(strings.TrimLeftFunc(rest, IsLetter), "[")
}

// Rune returns the escape of a character as Go and most other languages write it, so that readers can look it up.
func Rune(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < utf8.RuneSelf:
		return fmt.Sprintf(`\x%02x`, r)
	}
	return yamlEscape(r)
}

// Encode returns v as JSON with a newline at the end and nothing in it that a terminal or a CI agent obeys. HTML escaping is off: it is for
// web pages, and makes "->" and "&&" in command lines unreadable.
func Encode(v any, indent string) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return []byte(JSON(buf.String())), nil
}

// JSON escapes an encoded JSON document. It changes only string literals, where the escape of a character decodes to that character.
func JSON(encoded string) string { return escapeLiteral(encoded, jsonEscape) }

// YAML escapes one double-quoted YAML scalar. YAML has an escape of eight digits where JSON has surrogate pairs.
func YAML(quoted string) string { return escapeLiteral(quoted, yamlEscape) }

// escapeLiteral escapes characters that are hidden or begin a command. The encoder has already escaped quotes, backslashes and line
// breaks within literals. The line breaks that are left end the lines of the document.
func escapeLiteral(s string, escape func(rune) string) string {
	var b strings.Builder
	for i, r := range s {
		if r != '\n' && IsHidden(r) || r == '#' && StartsCommand(s[i:]) {
			b.WriteString(escape(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// jsonEscape writes a rune as an escape of a JSON string. JSON knows 16 bits, so a rune beyond them is a surrogate pair.
func jsonEscape(r rune) string {
	if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// yamlEscape writes a rune as an escape of a YAML string in double quotes.
func yamlEscape(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

package text

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/helmdrift/helmdrift/internal/escape"
)

// absent stands for a side without the field. No value looks like it, because strings that begin with "<" are quoted.
const absent = "<absent>"

// side returns one side of a finding. A nil side lacks the field; a side that holds null is an object.Null.
func (s style) side(v any) string {
	if v == nil {
		return absent
	}
	return s.value(v)
}

// value returns one value on one line: a string as it is if that is clear, everything else as JSON.
func (s style) value(v any) string {
	if text, ok := v.(string); ok {
		return s.quoted(text, isPlainValue(text))
	}
	encoded, err := escape.Encode(v, "")
	if err != nil {
		return s.quoted(fmt.Sprint(v), false) // a value that no API server can have sent
	}
	return s.escape(strings.TrimSuffix(string(encoded), "\n"))
}

// label returns a name, in quotes only if it could be taken for something around it.
func (s style) label(name string) string {
	return s.quoted(name, name != "" && !strings.ContainsAny(name, ` "`))
}

// word returns what should be a plain word, such as a kind or a field manager. It may begin a line.
func (s style) word(name string) string {
	odd := func(r rune) bool { return !escape.IsLetter(r) && !strings.ContainsRune("0123456789_./-", r) }
	return s.quoted(name, name != "" && escape.IsLetter(rune(name[0])) && !strings.ContainsFunc(name, odd))
}

// quoted returns text in quotes, or without them if it is plain and has nothing to escape.
func (s style) quoted(text string, plain bool) string {
	if safe := s.escape(text); plain && safe == text {
		return safe
	}
	// Only text in quotes has escapes, so only there a backslash needs one.
	return `"` + s.escape(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)) + `"`
}

// isPlainValue reports whether a string needs no quotes: it does not read like a number, a keyword, JSON or a sign of this format, and its
// blanks cannot be taken for the end of a column.
func isPlainValue(s string) bool {
	if s == "" || strings.TrimSpace(s) != s || strings.ContainsAny(s[:1], "\"'`<{[(*|") || strings.HasPrefix(s, "•") {
		return false
	}
	// These stand between columns and remarks. A value that holds one could pass for several.
	for _, separator := range []string{"  ", " → ", " -> ", " | ", " · "} {
		if strings.Contains(s, separator) {
			return false
		}
	}
	_, err := strconv.ParseFloat(s, 64)
	return err != nil && s != "true" && s != "false" && s != "null"
}

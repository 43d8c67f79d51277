package layout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/helmdrift/helmdrift/internal/escape"
)

// Absent stands for a side without the field. No value looks like it, because strings that begin with "(" are quoted.
const Absent = "(none)"

// Side returns one side of a finding. A nil side lacks the field; a side that holds null is an object.Null.
func (s Style) Side(v any) string {
	if v == nil {
		return Absent
	}
	return s.Value(v)
}

// Value returns one value on one line: a string as it is if that is clear, everything else as JSON.
func (s Style) Value(v any) string {
	if text, ok := v.(string); ok {
		return s.Quoted(text, isPlainValue(text))
	}
	encoded, err := escape.Encode(v, "")
	if err != nil {
		return s.Quoted(fmt.Sprint(v), false) // a value that no API server can have sent
	}
	return s.Escape(strings.TrimSuffix(string(encoded), "\n"))
}

// RawJSON returns a value as JSON. The caller escapes it, line by line.
func RawJSON(v any, indent string) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	err := encoder.Encode(v)
	return strings.TrimSuffix(out.String(), "\n"), err
}

// Escape makes any text of the report safe within a line.
func (s Style) Escape(text string) string { return escape.Text(text, s.ASCII) }

// Label returns a name, in quotes only if it could be taken for something around it.
func (s Style) Label(name string) string {
	return s.Quoted(name, name != "" && !strings.ContainsAny(name, ` "`))
}

// Word returns what should be a plain word, such as a kind or a field manager. It may begin a line.
func (s Style) Word(name string) string {
	odd := func(r rune) bool { return !escape.IsLetter(r) && !strings.ContainsRune("0123456789_./-", r) }
	return s.Quoted(name, name != "" && escape.IsLetter(rune(name[0])) && !strings.ContainsFunc(name, odd))
}

// Quoted returns text in quotes, or without them if the text is plain and has nothing to escape.
func (s Style) Quoted(text string, plain bool) string {
	if safe := s.Escape(text); plain && safe == text {
		return safe
	}
	// Only text in quotes has escapes, so only there a backslash needs one.
	return `"` + s.Escape(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)) + `"`
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

// First returns a name that may begin a line.
func (s Style) First(name string) string {
	begins := name != "" && (escape.IsLetter(rune(name[0])) || name[0] >= '0' && name[0] <= '9')
	return s.Quoted(name, begins && !strings.ContainsAny(name, ` "`))
}

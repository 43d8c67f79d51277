package html

import (
	"bytes"
	"encoding/json"
	"strings"
)

// lines is a string of several lines, and tree a list or a map as indented JSON. Every other value is a text of one line.
type (
	lines struct {
		Lines string `json:"lines"`
	}
	tree struct {
		Tree string `json:"tree"`
	}
)

// side returns a value of a finding as the data has it; nil if the side lacks the field. Two sides are equal if they are written alike.
func (d *data) side(value any) any {
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		// Only text in quotes has escapes, so a text that needs one is written on one line.
		if escaped := d.escapeLines(v); strings.Contains(strings.TrimSuffix(v, "\n"), "\n") && escaped == v {
			return lines{escaped}
		}
	case map[string]any, []any:
		if text, ok := indented(v); ok {
			return tree{d.escapeLines(text)}
		}
	}
	return d.phrases.Value(value)
}

// escapeLines escapes each line of a text.
func (d *data) escapeLines(text string) string {
	all := strings.Split(text, "\n")
	for i := range all {
		all[i] = d.phrases.Escape(all[i])
	}
	return strings.Join(all, "\n")
}

// indented returns a value as indented JSON. It returns false for a value that no API server can have sent.
func indented(value any) (string, bool) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(value); err != nil {
		return "", false
	}
	return strings.TrimSuffix(out.String(), "\n"), true
}

package report

import (
	"encoding/json"
	"slices"
	"strings"
)

// Notes are the remarks for people on a finding or an object. In JSON they are one text.
type Notes []string

// NotesOf returns one note, or none if the text is empty.
func NotesOf(text string) (out Notes) {
	out.Add(text)
	return out
}

// Add adds a note, unless it is empty or is there already.
func (n *Notes) Add(text string) {
	if text != "" && !slices.Contains(*n, text) {
		*n = append(slices.Clip(*n), text)
	}
}

// Map returns the notes with change applied to each text.
func (n Notes) Map(change func(string) string) Notes { return mapped(n, change) }

// String returns the notes as one text.
func (n Notes) String() string { return strings.Join(n, "; ") }

// MarshalJSON encodes the notes as one text.
func (n Notes) MarshalJSON() ([]byte, error) { return json.Marshal(n.String()) }

// UnmarshalJSON decodes the text of notes. A saved report does not say where one note ends, so the text becomes one note.
func (n *Notes) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	*n = NotesOf(text)
	return nil
}

// mapped returns a list with f applied to its texts; nil stays nil.
func mapped(list []string, f func(string) string) []string {
	var out []string
	for _, text := range list {
		out = append(out, f(text))
	}
	return out
}

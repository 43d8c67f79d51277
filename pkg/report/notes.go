package report

import (
	"encoding/json"
	"slices"
	"strings"
)

// NoteKind says what a note is about.
type NoteKind string

// The kinds of notes.
const (
	// NoteStays says why the upgrade leaves a value that is not as the manifest has it.
	NoteStays NoteKind = "stays"
	// NotePatch says why Helm's write does something that the manifests alone do not show, NoteGoesAlong that a value is removed with the
	// value around it, and NoteServer that the API server itself drops it.
	NotePatch     NoteKind = "patch"
	NoteGoesAlong NoteKind = "goes-along"
	NoteServer    NoteKind = "server"
	// NoteConflict is the API server's message about a conflict, with the manager that owns the value.
	NoteConflict NoteKind = "conflict"
	// NoteUncertain says why a verdict is not certain, NoteSettled what made it certain.
	NoteUncertain NoteKind = "uncertain"
	NoteSettled   NoteKind = "settled"
	// NoteAutoscaler says which autoscaler sets the replicas, NoteUnrecorded that no writer is recorded.
	NoteAutoscaler NoteKind = "autoscaler"
	NoteUnrecorded NoteKind = "unrecorded"
	// NoteFailedRevision says what a failed last revision has to do with a value or an object.
	NoteFailedRevision NoteKind = "failed-revision"
	// NoteList says how items of a list were told apart, NoteSpelling that values mean the same, NoteVersion at which version of the API a
	// value was read.
	NoteList     NoteKind = "list"
	NoteSpelling NoteKind = "spelling"
	NoteVersion  NoteKind = "version"
	// NoteObject is about what becomes of a whole object.
	NoteObject NoteKind = "object"
)

// Note is a remark for people. By its kind, a format may leave it out, group it with others or word it differently.
type Note struct {
	Kind NoteKind
	Text string
	// Manager is the field manager that the note is about; empty for most.
	Manager string
}

// Notes are the remarks on a finding or an object. In JSON they are one text.
type Notes []Note

// noteSeparator separates two notes in a text.
const noteSeparator = "; "

// NotesOf returns one note, and none if the text is empty.
func NotesOf(kind NoteKind, text string) (out Notes) {
	out.Add(kind, text)
	return out
}

// Add adds a note, unless its text is empty or is there already.
func (n *Notes) Add(kind NoteKind, text string) { n.AddNote(Note{Kind: kind, Text: text}) }

// AddNote adds a note, unless its text is empty or is there already.
func (n *Notes) AddNote(note Note) {
	isThere := func(other Note) bool { return other.Text == note.Text }
	if note.Text != "" && !slices.ContainsFunc(*n, isThere) {
		*n = append(slices.Clip(*n), note)
	}
}

// Has reports whether there is a note of a kind.
func (n Notes) Has(kind NoteKind) bool {
	return slices.ContainsFunc(n, func(note Note) bool { return note.Kind == kind })
}

// Map returns the notes with each text as change makes it.
func (n Notes) Map(change func(string) string) Notes {
	var out Notes
	for _, note := range n {
		note.Text = change(note.Text)
		out = append(out, note)
	}
	return out
}

// String returns the notes as one text.
func (n Notes) String() string {
	texts := make([]string, len(n))
	for i, note := range n {
		texts[i] = note.Text
	}
	return strings.Join(texts, noteSeparator)
}

// MarshalJSON encodes the notes as one text.
func (n Notes) MarshalJSON() ([]byte, error) { return json.Marshal(n.String()) }

// UnmarshalJSON decodes the text of notes. A saved report does not have their kinds, so the text becomes one note without a kind.
func (n *Notes) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	if *n = nil; text != "" {
		*n = Notes{{Text: text}}
	}
	return nil
}

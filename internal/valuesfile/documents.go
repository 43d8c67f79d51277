package valuesfile

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
)

// This file edits YAML that is a part of another text: one of several documents, or a document in a string of another document.

// Document is one document of a text of YAML. Err says why it cannot be edited, and then File is nil.
type Document struct {
	*File
	Err  error
	text string
}

// separator matches the line that begins a document. No scalar may have such a line (YAML 1.2.2, rule 206 c-forbidden).
var separator = regexp.MustCompile(`(?m)^---(?:[ \t\r\n]|$)`)

// Documents reads all documents of a text. Apply of one of them returns the whole text. The lines of errors are those of the whole text.
func Documents(name string, data []byte) []Document {
	text := string(data)
	starts := []int{0}
	for _, found := range separator.FindAllStringIndex(text, -1) {
		if found[0] > 0 {
			starts = append(starts, found[0])
		}
	}
	out := make([]Document, len(starts))
	failed := false
	starts = append(starts, len(text)) // where the last one ends
	for i := range out {
		from, to := starts[i], starts[i+1]
		out[i].text = text[from:to]
		f, err := Parse(name, []byte(text[from:to]))
		switch {
		case err == nil:
			f.head, f.tail = text[:from], text[to:]
			out[i].File = f
		case failed: // finding the line of each error would read the text once more for each
			out[i].Err = fmt.Errorf("%s: document %d cannot be edited either", name, i+1)
		default:
			failed = true
			_, out[i].Err = Parse(name, []byte(blanked(text[:from])+text[from:to]))
		}
	}
	return out
}

// inPlace returns a document with the line breaks of head in front of its text, so that it has the lines of the whole text.
func (f *File) inPlace() *File {
	if f.head == "" || f.blank > 0 {
		return f
	}
	out := *f
	blank := blanked(f.head)
	out.text, out.blank = blank+f.text, len(blank)
	return &out
}

// blanked returns the line breaks of a text. In front of a document they keep its lines where they are.
func blanked(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		n := breakLength(text[i:])
		b.WriteString(text[i : i+n])
		i += max(n, 1)
	}
	return b.String()
}

// whole returns the text that the file is a document of.
func (f *File) whole(text string) []byte { return []byte(f.head + f.bom + text[f.blank:] + f.tail) }

// Values returns what the file holds, as Helm reads it. The caller does not change it.
func (f *File) Values() map[string]any { return f.values }

// Nested reads the string at a path as a file of its own. Lines of errors are those of the whole text if the string is a block scalar.
func (f *File) Nested(path []any) (*File, error) {
	f = f.inPlace()
	value, _ := ValueAt(f.values, path)
	text, isText := value.(string)
	if !isText {
		return nil, f.refused(path, errors.New("it is not a text"))
	}
	above := 0
	if n := f.find(path); n != nil && n.isBlockScalar() {
		above = newSource(f.text).line(n.header)
	}
	inner, err := Parse(f.name, []byte(strings.Repeat("\n", above)+text))
	if err != nil {
		return nil, err
	}
	inner.blank = above
	return inner, nil
}

// find returns the node at a path, or nil if the text has none, as behind an alias.
func (f *File) find(path []any) *node {
	root, err := locate(f.text)
	if err != nil || root == nil {
		return nil
	}
	n := root
	for _, step := range path {
		if n = n.child(step); n == nil {
			return nil
		}
	}
	return n
}

// ApplyNested returns the file with edits of the YAML text that the string at a path holds. Of a literal block scalar, only the lines that
// the edits change are written. A folded one is refused, because its line breaks are not those of the text.
func (f *File) ApplyNested(path []any, edits ...Edit) ([]byte, error) {
	f = f.inPlace()
	inner, err := f.Nested(path)
	if err != nil {
		return nil, err
	}
	after, err := inner.Apply(edits...)
	if err != nil {
		return nil, err
	}
	set := Edit{Path: path, Value: string(after)}
	n := f.find(path)
	switch {
	case n == nil || f.IsShared(path):
		return nil, f.refused(path, errors.New("the text has an anchor or comes from one"))
	case !n.isBlockScalar():
		return f.Apply(set)
	case n.yaml.Style&yaml3.FoldedStyle != 0:
		return nil, f.refused(path, errors.New("the text is folded, so its lines are not those of the values"))
	}
	text, done := f.relined(n, n.yaml.Value, string(after))
	if !done {
		return f.Apply(set)
	}
	wanted, _, err := set.plan(any(f.values))
	if err != nil {
		return nil, f.refused(path, err)
	}
	if err := f.check(text, wanted, nil); err != nil {
		return nil, err
	}
	return f.whole(text), nil
}

// relined returns the text with another value of a literal block scalar. The lines that both values begin and end with stay as they are,
// with the blanks of empty lines. It is false if the scalar has no line to take the indent from.
func (f *File) relined(n *node, before, after string) (string, bool) {
	s := newSource(f.text)
	old, lines := strings.Split(strings.TrimRight(before, "\n"), "\n"), strings.Split(strings.TrimRight(after, "\n"), "\n")
	starts := []int{s.afterLine(n.header)} // of the lines of the scalar, and of what follows them
	for at := starts[0]; len(starts) <= len(old) && at < n.end; at = s.afterLine(at) {
		starts = append(starts, s.afterLine(at))
	}
	first := slices.IndexFunc(old, func(line string) bool { return line != "" })
	if len(starts) <= len(old) || first < 0 {
		return "", false
	}
	indent, found := strings.CutSuffix(f.text[starts[first]:s.lineEnd(starts[first])], old[first])
	if !found {
		return "", false
	}
	head, tail := 0, 0
	for head < min(len(old), len(lines)) && old[head] == lines[head] {
		head++
	}
	for tail < min(len(old), len(lines))-head && old[len(old)-1-tail] == lines[len(lines)-1-tail] {
		tail++
	}
	end := starts[len(old)]
	eol, last := cmp.Or(f.text[s.lineEnd(starts[0]):starts[1]], "\n"), f.text[s.lineEnd(starts[len(old)-1]):end]
	text := strings.TrimSuffix(f.text[:end], last) + eol // another line may follow the last one
	starts[len(old)] = len(text)
	var b strings.Builder
	b.WriteString(text[:starts[head]])
	for _, line := range lines[head : len(lines)-tail] {
		if line != "" {
			b.WriteString(indent + line)
		}
		b.WriteString(eol)
	}
	b.WriteString(text[starts[len(old)-tail]:])
	return strings.TrimSuffix(b.String(), eol) + last + f.text[end:], true
}

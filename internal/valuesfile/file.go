package valuesfile

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// File is a parsed values file.
type File struct {
	name   string
	bom    string // the byte order mark, if the file has one
	text   string // without it
	values map[string]any
	// head and tail are the documents before and after this one. Text begins with blank bytes that are not in the file: the line breaks of
	// head, or of what is above a nested text.
	head, tail string
	blank      int
}

// Edit is one change of a values file. The path leads from the root to a value, by keys (string) and indexes (int). Missing maps and lists
// on the way are created; null counts as missing.
type Edit struct {
	Path []any
	// Value is the new value: what JSON decodes to, or any integer type. Nil is null. An index that equals the length of a list
	// appends to it.
	Value any
	// Remove removes the key or the item. It ignores Value.
	Remove bool
	// Insert makes Value a new item of a list, before the item that now has the index.
	Insert bool
}

// byteOrderMark is what some editors write before UTF-8. The YAML libraries skip it and do not count it as a column.
const byteOrderMark = "\ufeff"

// Parse reads a values file. An error names the file and the line. Parse also locates the nodes, so that it refuses a file that cannot be
// edited before a search begins.
func Parse(name string, data []byte) (*File, error) {
	f := &File{name: name, text: string(data)}
	if text, ok := strings.CutPrefix(f.text, byteOrderMark); ok {
		f.bom, f.text = byteOrderMark, text
	}
	if strings.HasPrefix(f.text, byteOrderMark) {
		return nil, f.located(&lineError{1, "the file begins with two byte order marks"})
	}
	var err error
	if f.values, err = read(f.text); err == nil {
		_, err = locate(f.text)
	}
	if err != nil {
		return nil, f.located(err)
	}
	return f, nil
}

// located adds the name of the file to an error, and the line if it is known.
func (f *File) located(err error) error {
	var at *lineError
	if errors.As(err, &at) {
		return fmt.Errorf("%s:%d: %s", f.name, at.line, at.text)
	}
	return fmt.Errorf("%s: %w", f.name, err)
}

// lineError is an error at a line of the file, counted from 1. It has its own type because only the callers know the name of the file.
type lineError struct {
	line int
	text string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.text) }

// errNotRead stands for the errors of the conversion to JSON.
var errNotRead = errors.New("helm cannot read it as values")

// read returns the values that Helm reads from a text without a byte order mark. Integers are int64, or json.Number beyond that.
func read(text string) (map[string]any, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return map[string]any{}, nil
	}
	// The error of the conversion may quote a value, so it is not wrapped.
	encoded, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, errNotRead
	}
	decoded, err := decode(encoded)
	if err != nil {
		return nil, errNotRead
	}
	switch values := decoded.(type) {
	case map[string]any:
		return values, nil
	case nil:
		return map[string]any{}, nil
	}
	return nil, &lineError{root.Line, "values must be a map"}
}

// parse returns the root node of the only document of a text, or nil if there is none.
func parse(text string) (*yaml3.Node, error) {
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return nil, &lineError{1, "the file is UTF-16; only UTF-8 can be edited"}
	}
	var root *yaml3.Node
	for documents := yaml3.NewDecoder(strings.NewReader(text)); ; {
		var next yaml3.Node
		switch err := documents.Decode(&next); {
		case errors.Is(err, io.EOF) && root == nil:
			return nil, nil
		case errors.Is(err, io.EOF):
			return root, checkKeys(root)
		case err != nil:
			return nil, syntaxError(err)
		case root == nil:
			root = next.Content[0]
		case next.Content[0].Tag != "!!null":
			return nil, &lineError{next.Content[0].Line, "the file has a second document; Helm 3 ignores it, Helm 4 merges it"}
		}
	}
}

var (
	// syntaxMessage matches the errors of the scanner and the parser.
	syntaxMessage = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)
	// parserMessage matches the errors whose line the library counts from 0 (go.yaml.in/yaml/v3 v3.0.5 decode.go, parser.fail). The
	// lines of its scanner are counted from 1.
	parserMessage = regexp.MustCompile(`^did not find expected (<document start>|node content|'-' indicator|key|',' or)`)
)

// syntaxError returns the error of the YAML library with its line. The texts are constants of the library, except for the name of an
// anchor.
func syntaxError(err error) error {
	match := syntaxMessage.FindStringSubmatch(err.Error())
	if match == nil {
		return errNotRead
	}
	line, _ := strconv.Atoi(match[1])
	switch {
	case strings.HasPrefix(match[2], "unknown anchor"): // the only one without a line
		return errors.New(match[2])
	case line == 0 || parserMessage.MatchString(match[2]): // line 0 is left out
		line++
	}
	return &lineError{line, match[2]}
}

// follow returns the node that an alias stands for, and any other node itself.
func follow(n *yaml3.Node) *yaml3.Node {
	if n.Kind == yaml3.AliasNode {
		return n.Alias
	}
	return n
}

// Apply returns the file with the edits, made one after the other. An error names the path and says why.
func (f *File) Apply(edits ...Edit) ([]byte, error) {
	f = f.inPlace()
	text, wanted := f.text, any(f.values)
	var shared []sharedAnchor
	for _, e := range edits {
		after, changes, err := e.plan(wanted)
		if err != nil {
			return nil, f.refused(e.Path, err)
		}
		wanted = after
		// Parse the text again for each change. That costs a parse, but no change can use offsets that an earlier one moved.
		for _, c := range changes {
			ed, err := newEditor(f.name, text)
			if err != nil {
				return nil, f.check(text, wanted, shared)
			}
			if text, err = ed.apply(c); err != nil {
				return nil, f.refused(c.path, err)
			}
			shared = append(shared, ed.shared...)
			if ed.overrode && reached(text, after, e.Path) {
				break // the value was written with all changes of the edit
			}
		}
	}
	if err := f.check(text, wanted, shared); err != nil {
		return nil, err
	}
	return f.whole(text), nil
}

// refused returns the error of an edit.
func (f *File) refused(path []any, err error) error {
	if len(path) == 0 {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return fmt.Errorf("%s: %s: %w", f.name, PathText(path), err)
}

// reached reports whether a text has the wanted value at a path. It looks only at that place, because the changes of later edits are
// not made yet.
func reached(text string, wanted any, path []any) bool {
	got, err := read(text)
	left, inText := ValueAt(got, path)
	right, inWanted := ValueAt(wanted, path)
	return err == nil && inText == inWanted && object.Equal(left, right)
}

// check returns an error unless text has exactly the wanted values and can be edited again. So a fault of the editor becomes an error and
// never a wrong file.
func (f *File) check(text string, wanted any, shared []sharedAnchor) error {
	got, err := read(f.bom + text)
	if err == nil && object.Equal(got, wanted) {
		if _, err = locate(text); err == nil {
			return nil
		}
	}
	var path []any
	if err == nil {
		path = difference(nil, got, wanted)
	}
	if len(shared) > 0 {
		s := causeOf(shared, path)
		refusal := &SharedError{Anchor: s.name, Line: s.line, User: s.user}
		if err == nil {
			refusal.Also = further(nil, wanted, got)
		}
		return f.refused(s.path, refusal)
	}
	return f.refused(path, errors.New("the edits cannot be written into this file without changing something else"))
}

// PathText returns a path for people, as in reports.
func PathText(path []any) string {
	var p object.Path
	for _, step := range path {
		switch step := step.(type) {
		case string:
			p = p.Field(step)
		case int:
			p = p.Index(step)
		}
	}
	return p.String()
}

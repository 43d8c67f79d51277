package places

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Place is a part of a file of a working tree that has values.
type Place struct {
	File string
	// Document is its number in the file, or WholeFile if the file has only values.
	Document int
	// Path leads to the values in the document, or to a text that holds them if IsText is set.
	Path   []any
	IsText bool
}

// WholeFile is the number of the document of a file that has only values.
const WholeFile = -1

// open returns the document of a place in the text of its file.
func (p *Place) open(text []byte) (*valuesfile.File, error) {
	if p.Document < 0 {
		return valuesfile.Parse(p.File, text)
	}
	all := valuesfile.Documents(p.File, text)
	if p.Document >= len(all) {
		return nil, errors.New(p.File + " does not have the document any more")
	}
	return all[p.Document].File, all[p.Document].Err
}

// Values returns the values at the place in the text of its file.
func (p *Place) Values(text []byte) (map[string]any, error) {
	f, err := p.open(text)
	if err == nil && p.IsText {
		f, err = f.Nested(p.Path)
	}
	if err != nil {
		return nil, err
	}
	if p.IsText {
		return f.Values(), nil
	}
	found, _ := valuesfile.ValueAt(f.Values(), p.Path)
	values, isMap := found.(map[string]any)
	if found != nil && !isMap {
		return nil, fmt.Errorf("%s: its values are not a table", p.File)
	}
	return values, nil
}

// Apply returns the text of the file with an edit of the values.
func (p *Place) Apply(text []byte, e valuesfile.Edit) ([]byte, error) {
	f, err := p.open(text)
	if err != nil {
		return nil, err
	}
	if p.IsText {
		return f.ApplyNested(p.Path, e)
	}
	e.Path = slices.Concat(p.Path, e.Path)
	out, err := f.Apply(e)
	var shared *valuesfile.SharedError
	if errors.As(err, &shared) {
		return nil, p.rebased(shared)
	}
	return out, err
}

// rebased returns the error of an anchor with the paths in the values.
func (p *Place) rebased(e *valuesfile.SharedError) error {
	out := *e
	out.Also = nil
	for _, also := range e.Also {
		n := len(p.Path)
		if len(also.Path) <= n || !slices.Equal(also.Path[:n], p.Path) {
			out.Also = nil // the anchor is used outside of the values
			break
		}
		also.Path = also.Path[n:]
		out.Also = append(out.Also, also)
	}
	return fmt.Errorf("%s: %w", p.File, &out)
}

// Find returns the number of the document of an object in a text. Name names the object in messages.
func Find(file string, text []byte, of object.Key, name string) (int, error) {
	var err error
	var found []int
	documents := valuesfile.Documents(file, text)
	for i, d := range documents {
		if d.Err != nil {
			err = d.Err
		} else if object.RefOf(d.Values()).GroupKind() == of.GroupKind() {
			found = append(found, i)
		}
	}
	i, isOne := chooseDocument(documents, found, of)
	switch {
	case !isOne && err != nil:
		return 0, err
	case !isOne:
		return 0, fmt.Errorf("%s has no document, or several, that can be %s", file, name)
	}
	return i, nil
}

// chooseDocument returns the document of an object among those of its kind: the one with its name, and with its namespace if there are
// several. A prefix or a suffix of a kustomization may have changed the name of the only one.
func chooseDocument(documents []valuesfile.Document, among []int, of object.Key) (int, bool) {
	metadata := func(i int, field string) any { return object.Child(documents[i].Values(), "metadata")[field] }
	same := object.Filter(among, func(i int) bool { return metadata(i, "name") == of.Name })
	if len(same) > 1 {
		same = object.Filter(same, func(i int) bool { return metadata(i, "namespace") == of.Namespace })
	}
	if len(same) == 0 {
		same = object.Filter(among, func(i int) bool {
			name, _ := metadata(i, "name").(string)
			return name != "" && strings.Contains(of.Name, name)
		})
	}
	if len(same) != 1 {
		return 0, false
	}
	return same[0], true
}

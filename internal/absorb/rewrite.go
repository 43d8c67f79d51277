package absorb

import (
	"errors"

	"github.com/helmdrift/helmdrift/internal/valuesfile"
)

// RewriteValues returns the text of a values file after edits, such as those of an [Absorption]; every other byte stays. Name is the name
// of the file, for errors. Text is YAML and does not change. It is an error if the file is not a values file. If it cannot take the edits,
// for example because an anchor shares a value, the error is a *Refusal; a search then drops the edits and goes on with others.
func RewriteValues(name string, text []byte, edits []Edit) ([]byte, error) {
	file, err := valuesfile.Parse(name, text)
	if err != nil {
		return nil, err
	}
	var shared, others []valuesfile.Edit
	for _, e := range edits {
		change := valuesfile.Edit{Path: e.Path, Value: e.Value, Remove: e.Remove}
		if file.IsShared(e.Path) {
			shared = append(shared, change)
		} else {
			others = append(others, change)
		}
	}
	out, err := file.Apply(append(shared, others...)...)
	if err == nil {
		return out, nil
	}
	return nil, refusalOf(err)
}

// refusalOf returns the error of a change of a file as a refusal.
func refusalOf(err error) *Refusal {
	refusal := &Refusal{Reason: err.Error()}
	var anchor *valuesfile.SharedError
	if errors.As(err, &anchor) {
		refusal.Line = anchor.Line
		for _, e := range anchor.Also {
			refusal.Also = append(refusal.Also, Edit{Path: e.Path, Value: e.Value, Remove: e.Remove})
		}
	}
	return refusal
}

// refuses returns search.Problem.Refuses for the values file that o rewrites.
func (o Options) refuses(edited map[string]any) func([]Edit) *Refusal {
	if o.Rewrite == nil {
		return nil
	}
	return func(edits []Edit) *Refusal {
		_, err := o.Rewrite(edits, edited)
		var refusal *Refusal
		if err != nil && !errors.As(err, &refusal) {
			refusal = &Refusal{Reason: err.Error()}
		}
		return refusal
	}
}

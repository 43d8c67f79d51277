package absorb

import (
	"strings"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/unified"
	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
)

// Tree changes values where a working tree has them, for a controller that composes them. It writes no file. *flux.Keeper is one.
type Tree interface {
	// Root is the folder that file names are relative to.
	Root() string
	// Rewrite makes changes and returns the values that the controller then composes, as JSON. Each call starts anew.
	Rewrite(edits []valuesfile.Edit) ([]byte, error)
	// Prove returns for each edit of the last Rewrite why the tree refutes it, or an empty text.
	Prove() ([]string, error)
	// Changes returns the files that the last Rewrite changed.
	Changes() []files.Change
}

// TreeFiles are the files of a working tree that have the values to change.
type TreeFiles struct{ Tree }

// Rewrite implements Options.Rewrite.
func (t TreeFiles) Rewrite(edits []Edit, _ map[string]any) ([]byte, error) {
	changes := make([]valuesfile.Edit, len(edits))
	for i, e := range edits {
		changes[i] = valuesfile.Edit{Path: e.Path, Value: e.Value, Remove: e.Remove}
	}
	values, err := t.Tree.Rewrite(changes)
	if err != nil {
		return nil, refusalOf(err)
	}
	return values, nil
}

// Describe adds the files and their patch to a result, with secrets masked.
func (t TreeFiles) Describe(r *absorption.Result, a *Absorption) error {
	changes, err := t.changes(a)
	if err != nil {
		return err
	}
	var patch strings.Builder
	for _, c := range changes {
		var contents []map[string]any
		for _, d := range append(valuesfile.Documents("", c.Before), valuesfile.Documents("", c.After)...) {
			if d.Err == nil {
				contents = append(contents, d.Values())
			}
		}
		conceals := a.Conceals(contents...)
		shown := func(text []byte) string {
			return valuesfile.ConcealAll(text, secret.Mask, func(document map[string]any, path []any, value string) bool {
				return document["kind"] == "Secret" && len(path) > 1 && (path[0] == "data" || path[0] == "stringData") || conceals(value)
			})
		}
		plain := unified.Diff(c.Name, c.Name, string(c.Before), string(c.After))
		masked := a.Scrub(unified.Diff(c.Name, c.Name, shown(c.Before), shown(c.After)), contents...)
		r.Masked = r.Masked || masked != plain
		patch.WriteString(masked)
		r.Files = append(r.Files, c.Name)
	}
	r.Patch = patch.String()
	return nil
}

// changes returns the files that the edits of an absorption change.
func (t TreeFiles) changes(a *Absorption) ([]files.Change, error) {
	if len(a.Edits) == 0 {
		return nil, nil
	}
	if _, err := t.Rewrite(a.Edits, nil); err != nil { // the search may have tried others since
		return nil, err
	}
	return t.Changes(), nil
}

// Write writes the files.
func (t TreeFiles) Write(a *Absorption) error {
	changes, err := t.changes(a)
	if err != nil {
		return err
	}
	return files.ReplaceAll(t.Root(), changes)
}

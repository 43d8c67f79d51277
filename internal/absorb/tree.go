package absorb

import (
	"regexp"
	"slices"
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
		shown, plain := a.shownChange(c), unified.Diff(c.Name, c.Name, string(c.Before), string(c.After))
		r.Masked = r.Masked || shown != plain
		patch.WriteString(shown)
		r.Files = append(r.Files, c.Name)
	}
	r.Patch = patch.String()
	return nil
}

// shownChange returns the unified diff of a file with secrets masked. The lines around a change may belong to a document that is a Secret.
func (a *Absorption) shownChange(c files.Change) string {
	var contents []map[string]any
	nested := false
	for _, d := range append(valuesfile.Documents("", c.Before), valuesfile.Documents("", c.After)...) {
		if d.Err == nil {
			contents = append(contents, d.Values())
			nested = nested || hasSecretBelow(d.Values())
		}
	}
	conceals := a.Conceals(contents...)
	shown := func(text []byte) string {
		return valuesfile.ConcealAll(text, secret.Mask, func(document map[string]any, path []any, value string) bool {
			return isSecret(document) && len(path) > 1 && (path[0] == "data" || path[0] == "stringData") || conceals(value)
		})
	}
	diff := unified.Diff(c.Name, c.Name, shown(c.Before), shown(c.After))
	if nested {
		return a.Scrub(diff, contents...)
	}
	// A text with the kind of a Secret and with data is masked as a whole. Here the kind only names an object, as in spec.valuesFrom.
	const kind = "\x01"
	diff = secretKind.ReplaceAllString(diff, "${1}"+kind)
	return strings.ReplaceAll(a.Scrub(diff, contents...), kind, "Secret")
}

// secretKind matches the kind of a Secret in YAML.
var secretKind = regexp.MustCompile(`(["']?kind["']?\s*:\s*["']?)Secret\b`)

// isSecret reports whether a map is a Secret.
func isSecret(m map[string]any) bool { return m["kind"] == "Secret" || m["kind"] == "SecretList" }

// hasSecretBelow reports whether there is, or may be, a Secret with data below a document, or in one of its texts.
func hasSecretBelow(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, below := range v {
			m, _ := below.(map[string]any)
			if isSecret(m) && (m["data"] != nil || m["stringData"] != nil) || hasSecretBelow(below) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return hasSecretBelow(map[string]any{"item": item}) })
	case string:
		return strings.Contains(v, "Secret") && strings.Contains(v, "kind")
	}
	return false
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

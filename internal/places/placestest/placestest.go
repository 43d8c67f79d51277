// Package placestest runs the cases of those who change values in working trees: the tests of internal/argo, internal/flux/keep and
// internal/helmfile.
package placestest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/unified"
	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Keeper changes values in a working tree.
type Keeper interface {
	Root() string
	Rewrite(edits []valuesfile.Edit) ([]byte, error)
	Prove() ([]string, error)
	Changes() []files.Change
}

// Run makes the edits of a text and proves them. It returns the differences of the files, or why the edits cannot be made. If they are
// proved, it writes the files, and checks that what again composes of the written tree is what the keeper returned.
func Run(t *testing.T, k Keeper, text string, again func() (map[string]any, error)) string {
	t.Helper()
	edits := editsOf(t, text)
	rewritten, err := k.Rewrite(edits)
	if err != nil {
		return err.Error() + "\n"
	}
	var out strings.Builder
	for _, c := range k.Changes() {
		out.WriteString(unified.Diff(c.Name, c.Name, string(c.Before), string(c.After)))
	}
	reasons, err := k.Prove()
	if err != nil {
		t.Fatal(err)
	}
	isProved := true
	for i, why := range reasons {
		if why != "" {
			isProved = false
			fmt.Fprintf(&out, "refuted: %s: %s\n", valuesfile.PathText(edits[i].Path), why)
		}
	}
	if !isProved {
		return out.String()
	}
	if err := files.ReplaceAll(k.Root(), k.Changes()); err != nil {
		t.Fatal(err)
	}
	var wanted map[string]any
	if err := json.Unmarshal(rewritten, &wanted); err != nil {
		t.Fatal(err)
	}
	if composed, err := again(); err != nil || !object.Equal(any(composed), any(wanted)) {
		t.Errorf("the written tree composes %v, not %v: %v", composed, wanted, err)
	}
	return out.String()
}

// editsOf reads lines such as: set ["image", "tag"] "1.2".
func editsOf(t *testing.T, text string) (edits []valuesfile.Edit) {
	t.Helper()
	for line := range strings.Lines(text) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		e := valuesfile.Edit{Remove: verb == "remove"}
		d := json.NewDecoder(strings.NewReader(rest))
		err := d.Decode(&e.Path)
		if err == nil && !e.Remove {
			err = d.Decode(&e.Value)
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for i, step := range e.Path {
			if index, ok := step.(float64); ok {
				e.Path[i] = int(index)
			}
		}
		edits = append(edits, e)
	}
	return edits
}

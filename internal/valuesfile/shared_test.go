package valuesfile

import (
	"errors"
	"strings"
	"testing"
)

// TestSharedError checks that the error of a shared value names what would change too, and that the file takes both together.
func TestSharedError(t *testing.T) {
	text := "web:\n  tag: &tag \"1\"\n  ports: &ports [80]\njob:\n  tag: *tag\nold:\n  ports: *ports\n"
	f, err := Parse("values.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, edits := range [][]Edit{
		{{Path: []any{"web", "tag"}, Value: "2"}},
		{{Path: []any{"web", "ports", 0}, Value: 81}},
		{{Path: []any{"web", "ports", 0}, Value: 81}, {Path: []any{"web", "ports", 1}, Value: 82}},
	} {
		_, err := f.Apply(edits...)
		var shared *SharedError
		if !errors.As(err, &shared) || shared.Line == 0 || shared.User <= shared.Line || len(shared.Also) != 1 {
			t.Fatalf("%v", err)
		}
		out, err := f.Apply(append(edits, shared.Also...)...)
		if err != nil || strings.Count(string(out), "*") != 2 {
			t.Errorf("with %v: %v\n%s", shared.Also, err, out)
		}
		if !f.IsShared(edits[0].Path) || f.IsShared(shared.Also[0].Path) {
			t.Errorf("%v and %v: which of both has the anchor?", edits[0].Path, shared.Also[0].Path)
		}
	}
}

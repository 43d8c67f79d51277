package valuesfile

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/object"
)

var (
	valuesDir = flag.String("values", "", "a folder with values files of charts; TestCharts edits each of their values")
	perFile   = flag.Int("per-file", 0, "edit only so many values of each file, spread over it; 0 edits all")
)

// TestCharts sets each value of the files in a folder to another one, and removes it, and checks that no other line changes.
func TestCharts(t *testing.T) {
	if *valuesDir == "" {
		t.Skip("no -values")
	}
	files, err := filepath.Glob(filepath.Join(*valuesDir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	var edits, refused int
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Parse(filepath.Base(file), data)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		all := leaves(nil, f.values)
		stride := 1
		if *perFile > 0 {
			stride = max(1, len(all) / *perFile)
		}
		for i := 0; i < len(all); i += stride {
			for _, e := range editsOf(f, all[i], i) {
				edits++
				switch err := editsOnePlace(f, data, e); {
				case err != nil && strings.Contains(err.Error(), "has the anchor"): // another value would change with it
					refused++
				case err != nil:
					t.Errorf("%+v: %v", e, err)
				}
			}
		}
	}
	t.Logf("%d files, %d edits, %d refused because of an anchor", len(files), edits, refused)
}

// leaves returns the paths of all scalars, empty maps and empty lists.
func leaves(path []any, v any) (paths [][]any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range object.SortedKeys(v) {
			paths = append(paths, leaves(below(path, key), v[key])...)
		}
		if len(v) > 0 {
			return paths
		}
	case []any:
		for i, item := range v {
			paths = append(paths, leaves(below(path, i), item)...)
		}
		if len(v) > 0 {
			return paths
		}
	}
	return append(paths, path)
}

// editsOf returns edits of one kind, which depends on the turn: another scalar, a map, a removal, or a text with several lines.
func editsOf(f *File, path []any, turn int) []Edit {
	old, _ := ValueAt(f.values, path)
	other := Edit{Path: path, Value: "changed"}
	if object.Equal(old, "changed") {
		other.Value = "again"
	}
	switch old.(type) {
	case bool:
		other.Value = old == false
	case int64:
		other.Value = 4711
	}
	more := []Edit{
		{Path: path, Value: map[string]any{"a": []any{"x", map[string]any{"y": "yes"}}}},
		{Path: path, Remove: true},
		{Path: path, Value: "one\n  two: #\n\nthree\n"},
	}
	return []Edit{other, more[turn%len(more)]}
}

// editsOnePlace makes an edit and returns an error unless it changes a single run of lines whose length fits the edit.
func editsOnePlace(f *File, data []byte, e Edit) error {
	after, err := f.Apply(e)
	if err != nil {
		return err
	}
	removed, added := changedLines(string(data), string(after))
	for i, line := range added {
		if strings.Contains(line, "<<: *") { // the two lines of a map in place of an alias
			added = slices.Delete(added, max(i-1, 0), i+1)
			break
		}
	}
	old, _ := ValueAt(f.values, e.Path)
	text, _ := old.(string)
	switch value := e.Value.(type) {
	case map[string]any:
		if len(added) > 5 {
			return fmt.Errorf("%d lines instead of %d:\n%s", len(added), len(removed), strings.Join(added, ""))
		}
	case string:
		if limit := 1 + strings.Count(value, "\n"); len(added) > limit {
			return fmt.Errorf("%d lines instead of %d:\n%s", len(added), len(removed), strings.Join(added, ""))
		}
	default:
		if !e.Remove && len(added) != 1 {
			return fmt.Errorf("%d lines instead of %d:\n%s", len(added), len(removed), strings.Join(added, ""))
		}
	}
	values := 0 // removed lines that are not comments
	for _, line := range removed {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			values++
		}
	}
	if values > 3+strings.Count(text, "\n") {
		return fmt.Errorf("%d lines instead of %d:\n%s", len(added), len(removed), strings.Join(removed, ""))
	}
	return nil
}

// changedLines returns the lines of two texts without those that are equal at both ends.
func changedLines(a, b string) (removed, added []string) {
	x, y := slices.Collect(strings.Lines(a)), slices.Collect(strings.Lines(b))
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return x, y
}

package valuesfile

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the results in testdata")

// TestCases runs the cases of testdata. A case has the files NAME/in.yaml and NAME/edits, and then NAME/out.yaml or NAME/error. Edits may
// begin with lines that say where to make them: "document 1" counts from 0, and "nested PATH" is the YAML text at a path.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out := &txtar.Archive{Comment: archive.Comment}
		for i := 0; i+1 < len(archive.Files); i++ {
			in, edits := archive.Files[i], archive.Files[i+1]
			name, isCase := strings.CutSuffix(in.Name, "/in.yaml")
			if !isCase {
				continue
			}
			got := runCase(in.Data, edits.Data)
			got.Name = name + "/" + got.Name
			out.Files = append(out.Files, in, edits, got)
			if *update {
				continue
			}
			t.Run(filepath.Base(file)+"/"+name, func(t *testing.T) {
				if i+2 == len(archive.Files) {
					t.Fatal("the case has no result")
				}
				if diff := cmp.Diff(archive.Files[i+2], got); diff != "" {
					t.Error(diff)
				}
			})
		}
		if *update {
			if err := os.WriteFile(file, txtar.Format(out), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func runCase(in, edits []byte) txtar.File {
	after, err := applyCase(in, string(edits))
	if err != nil {
		return txtar.File{Name: "error", Data: []byte(err.Error() + "\n")}
	}
	return txtar.File{Name: "out.yaml", Data: after}
}

func applyCase(in []byte, edits string) ([]byte, error) {
	parse, apply := func() (*File, error) { return Parse("values.yaml", in) }, (*File).Apply
	for {
		line, rest, _ := strings.Cut(edits, "\n")
		verb, operand, _ := strings.Cut(line, " ")
		switch verb {
		case "document":
			i, err := strconv.Atoi(operand)
			if err != nil {
				return nil, fmt.Errorf("case: %w", err)
			}
			parse = func() (*File, error) {
				d := Documents("values.yaml", in)[i]
				return d.File, d.Err
			}
		case "nested":
			var path []any
			if err := json.Unmarshal([]byte(operand), &path); err != nil {
				return nil, fmt.Errorf("case: %w", err)
			}
			apply = func(f *File, edits ...Edit) ([]byte, error) { return f.ApplyNested(path, edits...) }
		default:
			f, err := parse()
			if err != nil {
				return nil, err
			}
			parsed, err := parseEdits(edits)
			if err != nil {
				return nil, fmt.Errorf("case: %w", err)
			}
			return apply(f, parsed...)
		}
		edits = rest
	}
}

// parseEdits reads lines such as: set ["image", "tag"] "1.2".
func parseEdits(text string) (edits []Edit, err error) {
	for line := range strings.Lines(text) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		e := Edit{Remove: verb == "remove", Insert: verb == "insert"}
		d := json.NewDecoder(strings.NewReader(rest))
		if err := d.Decode(&e.Path); err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		for i, step := range e.Path {
			if index, ok := step.(float64); ok {
				e.Path[i] = int(index)
			}
		}
		d.UseNumber()
		if !e.Remove {
			if err := d.Decode(&e.Value); err != nil {
				return nil, fmt.Errorf("%s: %w", line, err)
			}
		}
		edits = append(edits, e)
	}
	return edits, nil
}

// Package casetest runs the cases of a package. A case is a file in txtar form: its inputs, and last the file want, which is what a test
// must make of them. The flag -update writes what it makes into want, for a reader to check.
package casetest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite what the cases want")

// Run compares what made returns for the inputs of each file that matches a pattern with what the file wants. It returns the number of
// cases, and ends the test if there is none.
func Run(t *testing.T, pattern string, made func(t *testing.T, inputs *txtar.Archive) string) int {
	t.Helper()
	cases, err := filepath.Glob(pattern)
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { check(t, file, made) })
	}
	return len(cases)
}

func check(t *testing.T, file string, made func(t *testing.T, inputs *txtar.Archive) string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want string
	last := len(archive.Files) - 1
	if last >= 0 && archive.Files[last].Name == "want" {
		want = string(archive.Files[last].Data)
		archive.Files = archive.Files[:last]
	} else if !*update {
		t.Fatal("the last file is not want")
	}
	got := made(t, archive)
	if *update {
		archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(got)})
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Inputs ends the test if a case has other inputs than these.
func Inputs(t *testing.T, inputs *txtar.Archive, names ...string) {
	t.Helper()
	var got []string
	for _, f := range inputs.Files {
		got = append(got, f.Name)
	}
	if diff := cmp.Diff(names, got); diff != "" {
		t.Fatalf("the case has other inputs (-want +got):\n%s", diff)
	}
}

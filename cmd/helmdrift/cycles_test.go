package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCycles checks that at most ten files of a package refer to each other in a circle: whoever reads one of them must know the others.
func TestCycles(t *testing.T) {
	const most = 10
	gc := exported(t)
	for _, p := range packages(t) {
		if !strings.HasPrefix(p.ImportPath, module+"cmd/") && !strings.HasPrefix(p.ImportPath, module+"internal/") &&
			!strings.HasPrefix(p.ImportPath, module+"pkg/") || len(p.GoFiles) <= most {
			continue
		}
		if largest := largestCycle(references(t, gc, p)); len(largest) > most {
			slices.Sort(largest)
			t.Errorf("%s: %d files refer to each other: %s", p.ImportPath, len(largest), strings.Join(largest, " "))
		}
	}
}

// references returns for each file of a package the other files that have a name it refers to. Fields do not count: the file of a field says little.
func references(t *testing.T, imports types.Importer, p goPackage) map[string]map[string]bool {
	t.Helper()
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	checked, err := (&types.Config{Importer: imports}).Check(p.ImportPath, files, parsed, &info)
	if err != nil {
		t.Fatal(err)
	}
	fileOf := func(at token.Pos) string { return filepath.Base(files.Position(at).Filename) }
	out := map[string]map[string]bool{}
	for _, name := range p.GoFiles {
		out[name] = map[string]bool{}
	}
	for use, of := range info.Uses {
		v, isVar := of.(*types.Var)
		isLocal := isVar && (v.IsField() || of.Parent() != checked.Scope())
		if from, to := fileOf(use.Pos()), fileOf(of.Pos()); of.Pkg() == checked && !isLocal && from != to {
			out[from][to] = true
		}
	}
	return out
}

// largestCycle returns the most files that each lead to all others among them.
func largestCycle(references map[string]map[string]bool) (largest []string) {
	reach := map[string]map[string]bool{}
	for from := range references {
		seen := map[string]bool{}
		for next := []string{from}; len(next) > 0; {
			at := next[0]
			next = next[1:]
			for to := range references[at] {
				if !seen[to] {
					seen[to], next = true, append(next, to)
				}
			}
		}
		reach[from] = seen
	}
	for from := range references {
		var cycle []string
		for to := range reach[from] {
			if reach[to][from] {
				cycle = append(cycle, to)
			}
		}
		if len(cycle) > len(largest) {
			largest = cycle
		}
	}
	return largest
}

// TestLargestCycle checks the cycle itself.
func TestLargestCycle(t *testing.T) {
	of := map[string]map[string]bool{"a": {"b": true}, "b": {"c": true}, "c": {"a": true, "d": true}, "d": {"e": true}, "e": {"d": true}}
	got := largestCycle(of)
	if slices.Sort(got); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("%q", got)
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPathsExist checks that the tree has the folders, the files and the lines of each guest. Building the rest takes minutes, so only
// make guests does that.
func TestPathsExist(t *testing.T) {
	const root = "../../.."
	calls, err := os.ReadFile(filepath.Join(root, "cmd/helmdrift/guests.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range guests() {
		if !strings.Contains(string(calls), g.function+"(),") {
			t.Errorf("%s: cmd/helmdrift/guests.go does not call %s", g.name, g.function)
		}
		for _, path := range g.paths {
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s: %v", g.name, err)
			}
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun checks that the table names each step and the packages that were tested, also after a target that failed, that what runs at the
// same time is printed in turns, and that the steps after a failure do not run.
func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	makefile := strings.Join([]string{"a:", "\t@printf 'ok  \\tex.com/slow\\t12.5s\\nok  \\tex.com/quick\\t0.1s\\nok  \\tex.com/old\\t(cached)\\n'", "b:",
		"\t@printf 'FAIL\\tex.com/bad\\t3.2s\\n'; exit 1", "c:", "\t@echo not run",
		"d:", "\t@echo d1; sleep 0.2; echo d2", "e:", "\t@echo e1", ""}, "\n")
	if err := os.WriteFile(filepath.Join(".", "Makefile"), []byte(makefile), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, log strings.Builder
	if code := run([]string{"a", "d+e", "e+b", "c"}, &out, &log); code != 2 { // make's own exit code
		t.Errorf("exit %d\n%s%s", code, out.String(), log.String())
	}
	_, table, _ := strings.Cut(out.String(), "  step\n")
	var words []string
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) > 0 {
			words = append(words, fields[len(fields)-1])
		}
	}
	if got, want := strings.Join(words, " "), "a d e e b all package ex.com/slow ex.com/bad ex.com/quick"; got != want {
		t.Errorf("got %s, want %s:\n%s", got, want, table)
	}
	if !strings.Contains(out.String(), "d1\nd2\ne1\n") {
		t.Errorf("%s", out.String())
	}
	if !strings.Contains(log.String(), "make b") || strings.Contains(out.String(), "not run") {
		t.Errorf("%s%s", out.String(), log.String())
	}
}

package unified

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPatchApplies lets patch(1) apply random diffs.
func TestPatchApplies(t *testing.T) {
	if _, err := exec.LookPath("patch"); err != nil {
		t.Skip("there is no patch")
	}
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range random.IntN(30) {
			fmt.Fprintf(&b, "line %d\n", random.IntN(8))
		}
		if random.IntN(3) == 0 {
			b.WriteString("end")
		}
		return b.String()
	}
	for range 60 {
		before, after := text(), text()
		dir := t.TempDir()
		file := filepath.Join(dir, "file")
		if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		diff := Diff("file", "file", before, after)
		cmd := exec.Command("patch", "-s", "-E", file)
		cmd.Stdin = strings.NewReader(diff)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", out, err, diff)
		}
		if got, _ := os.ReadFile(file); string(got) != after {
			t.Fatalf("%q became %q, want %q:\n%s", before, got, after, diff)
		}
	}
}

// TestDiff compares one diff with the text that it must have.
func TestDiff(t *testing.T) {
	before, after := "one\n2\n3\n4\n5\n6\n7\n8\n9\nten\n", "eins\n2\n3\n4\n5\n6\n7\n8\n9\nten\neleven\n"
	want := "--- a\n+++ b\n@@ -1,4 +1,4 @@\n-one\n+eins\n 2\n 3\n 4\n@@ -8,3 +8,4 @@\n 8\n 9\n ten\n+eleven\n"
	if got := Diff("a", "b", before, after); got != want {
		t.Error(got)
	}
	if Diff("a", "b", "same", "same") != "" {
		t.Error("equal texts differ")
	}
}

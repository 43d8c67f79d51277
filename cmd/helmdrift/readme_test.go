package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestFirstExampleOfReadme runs the first example of README, which needs nothing but the repository. make snapshots makes its snapshot again.
func TestFirstExampleOfReadme(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```console\n$ helmdrift ")
	block, _, _ = strings.Cut(block, "```")
	command, want, _ := strings.Cut(block, "\n")
	want, code, found := strings.Cut(strings.TrimPrefix(want, "\n"), "$ echo $?\n")
	if !found || strings.TrimSpace(code) != "2" {
		t.Fatalf("README has no example that ends with 2: %q", code)
	}
	var out, stderr bytes.Buffer
	exit := run(t.Context(), strings.Fields(command), streams{out: &out, err: &stderr, env: func(string) string { return "" }})
	if exit != exitSelected || out.String() != want || stderr.Len() > 0 {
		t.Errorf("exit %d, stderr %q; README has\n%s\nthe command prints\n%s", exit, &stderr, want, &out)
	}
}

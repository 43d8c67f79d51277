package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEmbed runs the program that embeds pkg/drift, on a release before and after somebody edits it, and on one that is not installed. The
// program's comment shows the lines that call pkg/drift.
func TestEmbed(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../pkg/drift/doc.go")
	must(t, err)
	source, err := os.ReadFile("cmd/embed/main.go")
	must(t, err)
	_, lines, _ := strings.Cut(string(source), "\tconnection, err :=")
	lines, _, _ = strings.Cut("\tconnection, err :="+lines, "\treturn nil\n}")
	for line := range strings.Lines(lines) {
		if !strings.Contains(string(doc), "//"+line) {
			t.Errorf("the comment of pkg/drift lacks the line %s", line)
		}
	}
	program := filepath.Join(t.TempDir(), "embed")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/embed").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := newCase(t, suite.cluster)
	run := func(release string) string {
		out, err := exec.CommandContext(t.Context(), program, c.proxy.kubeconfig, c.storage, release).CombinedOutput()
		if err != nil {
			return "failed: " + string(out)
		}
		return string(out)
	}
	if out := run(c.release); !strings.HasPrefix(out, "failed: ") || !strings.Contains(out, c.release) {
		t.Errorf("a release that is not installed: %s", out)
	}
	must(t, c.helm(false, "install", "web"))
	if out := run(c.release); out != c.release+" false false\n" {
		t.Errorf("an untouched release: %s", out)
	}
	must(t, c.scale("deployment/web", "5"))
	if out := run(c.release); out != c.release+" true false\n" {
		t.Errorf("an edited release: %s", out)
	}
}

//go:build unix

package tree

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipes builds a tree with a named pipe, which nobody writes to.
func TestPipes(t *testing.T) {
	root := grow(t, map[string]string{"kustomization.yaml": "resources: [a.yaml]\n"})
	for _, name := range []string{"a.yaml", ".sourceignore"} {
		if err := syscall.Mkfifo(filepath.Join(root, name), 0o600); err != nil {
			t.Skip(err)
		}
		if _, said := buildAll(root, ""); !strings.Contains(said, name+" is no regular file") && !strings.Contains(said, name+
			" cannot be read") {
			t.Errorf("it says %s", said)
		}
	}
}

// TestUnreadable builds folders beside and around one that cannot be read.
func TestUnreadable(t *testing.T) {
	root := grow(t, map[string]string{"a/a.yaml": configMap("a"), "b/closed/b.yaml": configMap("b"), "c/kustomization.yaml": "resources: [../b/closed/b.yaml]\n"})
	if err := os.Chmod(filepath.Join(root, "b/closed"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(root, "b/closed"), 0o700) }) //nolint:gosec // so that it can be removed
	if _, err := os.ReadDir(filepath.Join(root, "b/closed")); err == nil {
		t.Skip("the user may read everything")
	}
	if answer, said := buildAll(root, "a"); len(answer.Objects) != 1 {
		t.Errorf("beside: %s", said)
	}
	for _, dir := range []string{"b", "c"} {
		if answer, said := buildAll(root, dir); !strings.Contains(said, "b/closed cannot be read") || len(answer.Objects) > 0 {
			t.Errorf("%s: it says %s", dir, said)
		}
	}
}

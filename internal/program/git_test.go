package program

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestArchive checks that the files of a commit are read, not those of the working tree, and that wrong commits are errors.
func TestArchive(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	write("first")
	git("add", ".")
	git("commit", "-q", "-m", "first")
	write("second")
	out, err := Archive(t.Context(), dir, "HEAD", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(out)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(r)
		files[header.Name] = string(text)
	}
	if files["a.yaml"] != "first" {
		t.Errorf("the archive has %q", files)
	}
	for commit, want := range map[string]string{
		"nothing": "not a valid object name", "--output=/tmp/x": "is not a commit", "HEAD:a.yaml": "git archive ended with exit code",
	} {
		if _, err := Archive(t.Context(), dir, commit, 1<<20); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", commit, err, want)
		}
	}
	if _, err := Archive(t.Context(), dir, "HEAD", 100); err == nil || !strings.Contains(err.Error(), "prints more") {
		t.Errorf("a small limit: %v", err)
	}
}

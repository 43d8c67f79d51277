package source

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/helmdrift/helmdrift/internal/argo/api"
)

// TestSubmodules checks that a source that a submodule without files belongs to is an error.
func TestSubmodules(t *testing.T) {
	root := t.TempDir()
	const list = "[submodule \"shared\"]\n\tpath = apps/web/shared\n\turl = ../shared.git\n[submodule \"there\"]\n\tPath=\"apps/there\"\n\turl = ../there.git\n"
	for name, text := range map[string]string{".gitmodules": list, "apps/there/a.yaml": "a: 1", "apps/web/b.yaml": "b: 1", "apps/webs/c.yaml": "c: 1"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "apps/web/shared"), 0o755); err != nil { // as git leaves it
		t.Fatal(err)
	}
	for path, lacks := range map[string]bool{".": true, "apps": true, "apps/web": true, "apps/web/shared": true, "apps/there": false, "apps/webs": false} {
		_, err := In(root, api.Source{Path: path}, "the tree")
		if got := err != nil && err.Error() == "apps/web/shared is a submodule, whose files helmdrift does not fetch"; got != lacks || (err != nil) != lacks {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := In(root, api.Source{Ref: "values"}, "the tree"); err != nil {
		t.Error(err)
	}
	linked := t.TempDir()
	if err := os.Symlink(filepath.Join(root, ".gitmodules"), filepath.Join(linked, ".gitmodules")); err != nil {
		t.Fatal(err)
	}
	if _, err := In(linked, api.Source{Path: "."}, "the tree"); err == nil || err.Error() != ".gitmodules is a symbolic link, which Git does not follow either" {
		t.Error(err)
	}
}

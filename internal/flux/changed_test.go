package flux

import (
	"archive/tar"
	"os"
	"path/filepath"
	"testing"

	"github.com/helmdrift/helmdrift/internal/files/filestest"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
)

// TestEarlier checks that the files of a commit are below a folder of their own, without links, and that the folder goes at the end.
func TestEarlier(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "clusters", "prod"), 0o700); err != nil {
		t.Fatal(err)
	}
	order := tree.Order{Root: root, Dir: filepath.Join(root, "clusters", "prod")}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		order.Root = real
	}
	before, done, err := earlier(order, filestest.Tar(t,
		tar.Header{Name: "apps/web.yaml", Typeflag: tar.TypeReg},
		tar.Header{Name: "apps/link.yaml", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
	))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(before.Root, "apps", "web.yaml")); err != nil || string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Lstat(filepath.Join(before.Root, "apps", "link.yaml")); !os.IsNotExist(err) {
		t.Errorf("the link: %v", err)
	}
	if inside, err := filepath.Rel(before.Root, before.Dir); err != nil || filepath.ToSlash(inside) != "clusters/prod" {
		t.Errorf("the folder of the user is %s, %v", inside, err)
	}
	if info, err := os.Stat(before.Dir); err != nil || !info.IsDir() {
		t.Errorf("a folder that the change adds: %v", err)
	}
	done()
	if _, err := os.Stat(before.Root); !os.IsNotExist(err) {
		t.Errorf("the files are still there: %v", err)
	}
}

package files

import (
	"archive/tar"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/files/filestest"
)

// TestUnpackRefuses checks that no file is written outside of the folder.
func TestUnpackRefuses(t *testing.T) {
	for _, name := range []string{"../out.yaml", "a/../../out.yaml", "/etc/out.yaml"} {
		dir := filepath.Join(t.TempDir(), "inside")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		err := unpack(filestest.Tar(t, tar.Header{Name: name, Typeflag: tar.TypeReg}), dir, false)
		if err == nil || !strings.Contains(err.Error(), "outside of its folder") {
			t.Errorf("%s: %v", name, err)
		}
	}
	twice := tar.Header{Name: "a.yaml", Typeflag: tar.TypeReg}
	if err := unpack(filestest.Tar(t, twice, twice), t.TempDir(), false); err == nil {
		t.Error("a file that is there twice is no error")
	}
}

// TestUnpackLinks checks which symbolic links an archive may have.
func TestUnpackLinks(t *testing.T) {
	file := tar.Header{Name: "shared/web.yaml", Typeflag: tar.TypeReg}
	for target, isAllowed := range map[string]bool{
		"../shared/web.yaml": true, "../shared": true, "absent.yaml": true, "../../out": false, "/etc/passwd": false, "../shared/../../out": false,
	} {
		link := tar.Header{Name: "chart/link.yaml", Typeflag: tar.TypeSymlink, Linkname: target}
		archive := filestest.Tar(t, link, file)
		dir := t.TempDir()
		err := unpack(archive, dir, true)
		if got, _ := os.Readlink(filepath.Join(dir, "chart", "link.yaml")); isAllowed != (err == nil) || isAllowed && got != target {
			t.Errorf("%s: %q, %v", target, got, err)
		}
		dir = t.TempDir()
		if err := unpack(archive, dir, false); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(filepath.Join(dir, "chart", "link.yaml")); !os.IsNotExist(err) {
			t.Errorf("without links, %s is there: %v", target, err)
		}
	}
	through := tar.Header{Name: "a/web.yaml", Typeflag: tar.TypeReg}
	if err := unpack(filestest.Tar(t, tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/tmp"}, through), t.TempDir(), true); err == nil {
		t.Error("a file was written beside a link of the same name")
	}
}

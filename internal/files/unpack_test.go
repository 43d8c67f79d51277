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
		err := unpack(filestest.Tar(t, tar.Header{Name: name, Typeflag: tar.TypeReg}), dir)
		if err == nil || !strings.Contains(err.Error(), "outside of its folder") {
			t.Errorf("%s: %v", name, err)
		}
	}
	twice := tar.Header{Name: "a.yaml", Typeflag: tar.TypeReg}
	if err := unpack(filestest.Tar(t, twice, twice), t.TempDir()); err == nil {
		t.Error("a file that is there twice is no error")
	}
}

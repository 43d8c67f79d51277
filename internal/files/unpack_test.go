package files

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// archiveOf returns a tar archive.
func archiveOf(t *testing.T, entries ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, header := range entries {
		header.Mode, header.Size = 0o644, 1
		if header.Typeflag != tar.TypeReg {
			header.Size = 0
		}
		if err := w.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if header.Size > 0 {
			if _, err := w.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestUnpackRefuses checks that no file is written outside of the folder.
func TestUnpackRefuses(t *testing.T) {
	for _, name := range []string{"../out.yaml", "a/../../out.yaml", "/etc/out.yaml"} {
		dir := filepath.Join(t.TempDir(), "inside")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		err := unpack(archiveOf(t, tar.Header{Name: name, Typeflag: tar.TypeReg}), dir)
		if err == nil || !strings.Contains(err.Error(), "outside of its folder") {
			t.Errorf("%s: %v", name, err)
		}
	}
	twice := tar.Header{Name: "a.yaml", Typeflag: tar.TypeReg}
	if err := unpack(archiveOf(t, twice, twice), t.TempDir()); err == nil {
		t.Error("a file that is there twice is no error")
	}
}

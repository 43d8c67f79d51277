// Package filestest makes archives for tests.
package filestest

import (
	"archive/tar"
	"bytes"
	"testing"
)

// Tar returns a tar archive. The content of each regular file is one letter.
func Tar(t *testing.T, entries ...tar.Header) []byte {
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

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"os"
)

// packTraversal writes a packaged chart with a file whose path leads outside of the chart.
func packTraversal(file string) error {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	var failed []error
	for _, f := range []struct{ name, text string }{
		{"web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"},
		{"web/../../escaped.yaml", "out: 1\n"},
	} {
		failed = append(failed, archive.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.text)), Typeflag: tar.TypeReg}))
		_, err := archive.Write([]byte(f.text))
		failed = append(failed, err)
	}
	failed = append(failed, archive.Close(), zipped.Close(), os.WriteFile(file, out.Bytes(), 0o600))
	return errors.Join(failed...)
}

package release

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestArchives checks what the archives of all platforms have: the program, its licence, and on every system all completions and pages.
func TestArchives(t *testing.T) {
	common := []string{"LICENSE", "NOTICE", "README.md"}
	for _, shell := range []string{"bash", "fish", "ps1", "zsh"} {
		common = append(common, "completions/helmdrift."+shell)
	}
	for _, page := range manPages(t) {
		common = append(common, "man/"+page)
	}
	expected := map[string][]string{"helmdrift": common, "plugin": {"LICENSE", "NOTICE", "plugin.complete", "plugin.yaml"}}
	seen := map[string]int{}
	for _, a := range artifacts(t, "Archive") {
		binary := "helmdrift"
		if a.Goos == "windows" {
			binary += ".exe"
		}
		var got []string
		for name, mode := range entries(t, a.Path) {
			if executable := name == binary || name == "plugin.complete"; mode&0o777 != 0o644 && !executable || mode&0o777 != 0o755 && executable {
				t.Errorf("%s: the mode of %s is %s", a.Name, name, mode)
			}
			got = append(got, name)
		}
		slices.Sort(got)
		if want := slices.Sorted(slices.Values(append([]string{binary}, expected[a.Extra.ID]...))); !slices.Equal(got, want) {
			t.Errorf("%s has\n%s\nwant\n%s", a.Name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		seen[fmt.Sprint(a.Extra.ID, " ", a.Goos, " ", a.Goarch)]++
	}
	if len(seen) != 12 {
		t.Errorf("there are archives for %v, not two for each of six platforms", seen)
	}
}

// entries returns the files of an archive with their modes.
func entries(t *testing.T, file string) map[string]os.FileMode {
	t.Helper()
	out := map[string]os.FileMode{}
	if filepath.Ext(file) == ".zip" {
		archive, err := zip.OpenReader(file)
		must(t, err)
		defer archive.Close()
		for _, entry := range archive.File {
			out[entry.Name] = entry.Mode()
		}
		return out
	}
	readTar(t, file, func(header *tar.Header, _ io.Reader) {
		if header.Uname != "root" || header.Gname != "root" {
			t.Errorf("%s: %s belongs to %s:%s", filepath.Base(file), header.Name, header.Uname, header.Gname)
		}
		out[header.Name] = header.FileInfo().Mode()
	})
	return out
}

// readTar calls read for each entry of a compressed archive, in its order.
func readTar(t *testing.T, file string, read func(header *tar.Header, content io.Reader)) {
	t.Helper()
	in, err := os.Open(file)
	must(t, err)
	defer in.Close()
	compressed, err := gzip.NewReader(in)
	must(t, err)
	for archive := tar.NewReader(compressed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		must(t, err)
		read(header, archive)
	}
}

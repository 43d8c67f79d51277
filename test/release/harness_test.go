package release

import (
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

var distFolder = flag.String("dist", "", "test the release that goreleaser made in this folder")

// distOf returns the folder of the release to test. Without one, the test is skipped.
func distOf(t *testing.T) string {
	t.Helper()
	if *distFolder == "" {
		t.Skip("there is no -dist: make snapshot-release runs this test")
	}
	return *distFolder
}

// repository returns the folder of the repository.
func repository(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	must(t, err)
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run runs a program and returns its output. It must succeed.
func run(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// glob returns the files of a pattern. There must be as many as want.
func glob(t *testing.T, want int, pattern ...string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(pattern...))
	must(t, err)
	if len(files) != want {
		t.Fatalf("%s: %d files, want %d: %s", filepath.Join(pattern...), len(files), want, files)
	}
	return files
}

// read returns the text of a file.
func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	return string(text)
}

// configuration decodes .goreleaser.yaml, with values in place of the templates that the tests need.
func configuration(t *testing.T, into any) {
	t.Helper()
	filled := strings.NewReplacer("{{ .CommitDate }}", time.Unix(1e9, 0).UTC().Format(time.RFC3339), "{{ .Version }}", version)
	must(t, yaml.Unmarshal([]byte(filled.Replace(read(t, "../../.goreleaser.yaml"))), into))
}

// version is the version of the packages that the tests build.
const version = "1.2.3"

// artifact is an entry of the list that goreleaser writes about the files it made.
type artifact struct {
	Name, Path, Goos, Goarch, Type string
	Extra                          struct{ ID, Checksum string }
}

// artifacts returns the files of a type that the release has.
func artifacts(t *testing.T, kind string) (out []artifact) {
	t.Helper()
	dist := distOf(t)
	var all []artifact
	must(t, json.Unmarshal([]byte(read(t, filepath.Join(dist, "artifacts.json"))), &all))
	for _, a := range all {
		if a.Type == kind {
			a.Path = filepath.Join(filepath.Dir(dist), a.Path)
			out = append(out, a)
		}
	}
	if len(out) == 0 {
		t.Fatalf("the release has no %s", kind)
	}
	return out
}

// listed returns the names of the files below a folder, without the folders.
func listed(t *testing.T, root string) (out []string) {
	t.Helper()
	must(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			name, _ := filepath.Rel(root, path)
			out = append(out, filepath.ToSlash(name))
		}
		return err
	}))
	return out
}

package project

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// TestVersionsOfModules checks that the modules in MODULES of the Makefile, and the main one, require one version of each other module. Go
// compiles a package again for each version of it and of what it imports, and vet and staticcheck read it again. And tests of helmdrift's
// packages in other modules must link what helmdrift links.
func TestVersionsOfModules(t *testing.T) {
	const root = "../.."
	// It has the versions of goreleaser, which "make test" does not compile.
	const apart = "tools/release"
	versions, first := map[string]string{}, map[string]string{} // the version of each module, and the file that requires it first
	dirs := append([]string{"."}, checkedModules(t, filepath.Join(root, "Makefile"))...)
	for _, dir := range dirs {
		if dir == apart {
			continue
		}
		name := filepath.Join(dir, "go.mod")
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		file, err := modfile.Parse(name, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range file.Require {
			path, version := r.Mod.Path, r.Mod.Version
			if versions[path] == "" {
				versions[path], first[path] = version, name
			}
			if versions[path] != version {
				t.Errorf("%s requires %s %s, and %s requires %s: raise the older one with go get, or exclude the newer one",
					name, path, version, first[path], versions[path])
			}
		}
	}
	if len(versions) < 250 {
		t.Errorf("the files require only %d modules: are they still read?", len(versions))
	}
}

// checkedModules returns the folders of MODULES in the Makefile.
func checkedModules(t *testing.T, makefile string) []string {
	t.Helper()
	text, err := os.ReadFile(makefile)
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(`(?m)^MODULES +:= (.*?)\$\(addprefix test/,(.*)\)$`).FindStringSubmatch(string(text))
	if match == nil {
		t.Fatal("the Makefile has no MODULES of the known form")
	}
	dirs := strings.Fields(match[1])
	for _, name := range strings.Fields(match[2]) {
		dirs = append(dirs, "test/"+name)
	}
	return dirs
}

package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gomodule "golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// TestGoInstall installs helmdrift with go install, from a module proxy that has a version of this tree. It uses the module cache of
// this machine, which has the other modules, and removes its version from there.
func TestGoInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	cache := goEnv(t, "GOMODCACHE")
	proxy, bin := t.TempDir(), t.TempDir()
	publish(t, gomodule.Version{Path: "github.com/helmdrift/helmdrift", Version: "v0.1.0"}, proxy)
	install := exec.Command("go", "install", "github.com/helmdrift/helmdrift/cmd/helmdrift@latest")
	install.Dir = bin
	unpacked := filepath.Join(cache, "github.com", "helmdrift", "helmdrift@v0.1.0")
	if _, err := os.Stat(unpacked); err == nil {
		t.Skipf("the module cache has this version already: %s", unpacked)
	}
	defer func() {
		downloaded, err := filepath.Glob(filepath.Join(cache, "cache", "download", "github.com", "helmdrift", "helmdrift", "@v", "v0.1.0.*"))
		for _, path := range append(downloaded, unpacked) {
			err = errors.Join(err, os.RemoveAll(path))
		}
		if err != nil {
			t.Error(err)
		}
	}()
	// The go command caches an index of the files of a version, which may come from an earlier run of this test.
	install.Env = append(os.Environ(), "GODEBUG=goindex=0", "GOBIN="+bin, "GOFLAGS=-modcacherw -trimpath", "GOWORK=off", "GONOSUMDB=*",
		"GOPROXY=file://"+proxy+",file://"+filepath.Join(cache, "cache", "download"), "CGO_ENABLED=0")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(filepath.Join(bin, "helmdrift"), "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "helmdrift v0.1.0 (") {
		t.Errorf("helmdrift version: %v\n%s", err, out)
	}
}

// publish puts a version of this module into a folder that is a module proxy.
func publish(t *testing.T, version gomodule.Version, proxy string) {
	t.Helper()
	dir := filepath.Join(proxy, filepath.FromSlash(version.Path), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"list": version.Version + "\n", version.Version + ".mod": string(mod),
		version.Version + ".info": `{"Version":"` + version.Version + `"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	archive, err := os.Create(filepath.Join(dir, version.Version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if err := zip.Create(archive, version, sources(t)); err != nil {
		t.Fatal(err)
	}
}

// sources returns the files of the tree that are published; zip.Create leaves out those of other modules. It does not look into bin:
// after each build, Go would run all tests of this package again.
func sources(t *testing.T) (files []zip.File) {
	t.Helper()
	const root = "../.."
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "bin", "dist", "node_modules"}, entry.Name()):
			return filepath.SkipDir
		case entry.Type().IsRegular():
			name, _ := filepath.Rel(root, path)
			files = append(files, moduleFile(filepath.ToSlash(name)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// moduleFile is a file of this module by its path below the root.
type moduleFile string

func (s moduleFile) Path() string                 { return string(s) }
func (s moduleFile) Lstat() (os.FileInfo, error)  { return os.Lstat(filepath.Join("../..", string(s))) }
func (s moduleFile) Open() (io.ReadCloser, error) { return os.Open(filepath.Join("../..", string(s))) }

// goEnv returns a setting of the go command.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

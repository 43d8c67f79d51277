package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSearchEnds checks that a configuration above the repository, or above the home directory, is not used.
func TestSearchEnds(t *testing.T) {
	for name, c := range map[string]struct {
		make []string // a name that ends in / is a directory
		home string
		want string
	}{
		"in the working directory":           {make: []string{"a/b/.helmdrift.yaml", "a/.helmdrift.yaml"}, want: "a/b/.helmdrift.yaml"},
		"above it":                           {make: []string{"a/.helmdrift.yaml"}, want: "a/.helmdrift.yaml"},
		"at the root of the repository":      {make: []string{"a/.git/", "a/.helmdrift.yaml"}, want: "a/.helmdrift.yaml"},
		"above the repository":               {make: []string{"a/.git/", ".helmdrift.yaml"}},
		"above a worktree, whose .git is":    {make: []string{"a/.git", ".helmdrift.yaml"}},
		"above the repository in b":          {make: []string{"a/b/.git/", "a/.helmdrift.yaml"}},
		"in the home directory":              {make: []string{"a/.helmdrift.yaml"}, home: "a", want: "a/.helmdrift.yaml"},
		"above the home directory":           {make: []string{".helmdrift.yaml"}, home: "a"},
		"above, where home is somewhere":     {make: []string{".helmdrift.yaml", "z/"}, home: "z", want: ".helmdrift.yaml"},
		"above, where home is not there":     {make: []string{".helmdrift.yaml"}, home: "none", want: ".helmdrift.yaml"},
		"nowhere, and a repository is there": {make: []string{"a/.git/"}},
	} {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		place(t, dir, append(c.make, "a/b/", ".git/")...) // the last keeps the search off the machine's own directories
		finder := Finder{Env: func(string) string { return "" }}
		if c.home != "" {
			finder.Home = filepath.Join(dir, c.home)
		}
		got, err := finder.Find(filepath.Join(dir, "a/b"))
		if want := filepath.Join(dir, c.want); err != nil || got != want && (c.want != "" || got != "") {
			t.Errorf("%s: found %q, %v", name, got, err)
		}
	}
}

// TestSearchGoesBySymlinks checks that the search goes up from the directory that a link points to, not from the link.
func TestSearchGoesBySymlinks(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "real/.git/", "real/in/", "links/.helmdrift.yaml", ".git/")
	if err := os.Symlink(filepath.Join(dir, "real/in"), filepath.Join(dir, "links/in")); err != nil {
		t.Skip(err)
	}
	if got, err := (Finder{Env: os.Getenv}).Find(filepath.Join(dir, "links/in")); got != "" || err != nil {
		t.Errorf("found %q, %v", got, err)
	}
}

// TestConfigIsAFile checks that a directory with the name of the configuration is an error.
func TestConfigIsAFile(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, ".helmdrift.yaml/")
	_, err := Finder{Env: os.Getenv}.Find(dir)
	if err == nil || !strings.Contains(err.Error(), "is not used: it is not a regular file") {
		t.Error(err)
	}
}

func place(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		isDir := strings.HasSuffix(name, "/")
		if isDir {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

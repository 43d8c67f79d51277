package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestName checks that each object has its own file name, which is valid on every system.
func TestName(t *testing.T) {
	for want, words := range map[string][]string{
		"ConfigMap__prod_web": {"ConfigMap", "", "prod", "web"},
		"ClusterRole_rbac.authorization.k8s.io__system%3aa%2fb": {"ClusterRole", "rbac.authorization.k8s.io", "", "system:a/b"},
		"ConfigMap__a%5fb_..%2fc%253a":                          {"ConfigMap", "", "a_b", "../c%3a"},
	} {
		if got := Name(words...); got != want {
			t.Errorf("%q: %s, want %s", words, got, want)
		}
	}
	long := strings.Repeat("n", 253)
	a, b := Name("ConfigMap", "", long, long), Name("ConfigMap", "", long, long+"x")
	if a == b || len(a) > 250 {
		t.Errorf("long names: %s and %s", a, b)
	}
}

// TestCreateAllOrNone checks that no file is left if one cannot be written, and that files that existed are not changed.
func TestCreateAllOrNone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "b"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := CreateAll(dir, map[string][]byte{filepath.Join(dir, "a"): nil, filepath.Join(dir, "b"): []byte("new"), filepath.Join(dir, "c"): nil})
	left, _ := os.ReadDir(dir)
	kept, _ := os.ReadFile(filepath.Join(dir, "b"))
	if err == nil || len(left) != 1 || string(kept) != "old" {
		t.Errorf("%v, %d files, %q in the old one", err, len(left), kept)
	}
}

// TestReplaceAll replaces two files or none, and refuses links and files that somebody else has changed.
func TestReplaceAll(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		spoil      func(dir string) error
		changes    []Change
	}{
		{"both", "", nil, nil},
		{"changed meanwhile", "b/c.yaml has changed meanwhile", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "b", "c.yaml"), []byte("old\nmore"), 0o600)
		}, nil},
		{"gone", "no such file", func(dir string) error { return os.Remove(filepath.Join(dir, "b", "c.yaml")) }, nil},
		{"a link to a file", "it is a symbolic link", func(dir string) error {
			return errors.Join(os.Rename(filepath.Join(dir, "b", "c.yaml"), filepath.Join(dir, "d")),
				os.Symlink("../d", filepath.Join(dir, "b", "c.yaml")))
		}, nil},
		{"a link to a folder", "it is a symbolic link", func(dir string) error {
			return errors.Join(os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "d")), os.Symlink("d", filepath.Join(dir, "b")))
		}, nil},
		{"above", "outside of the folder", nil, []Change{{"a.yaml", []byte("old\n"), nil}, {"../x", nil, nil}}},
		{"absolute", "outside of the folder", nil, []Change{{"/etc/passwd", nil, nil}}},
		{"a folder", "it is not a regular file", nil, []Change{{"b", nil, nil}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			a := filepath.Join(dir, "a.yaml")
			err := errors.Join(os.Mkdir(filepath.Join(dir, "b"), 0o700), os.WriteFile(a, []byte("old\n"), 0o640),
				os.WriteFile(filepath.Join(dir, "b", "c.yaml"), []byte("old\n"), 0o600))
			if tt.spoil != nil {
				err = errors.Join(err, tt.spoil(dir))
			}
			if err != nil {
				t.Fatal(err)
			}
			changes, want := tt.changes, "old\n"
			if changes == nil {
				changes = []Change{{"a.yaml", []byte("old\n"), []byte("new\n")}, {filepath.Join("b", "c.yaml"), []byte("old\n"), []byte("new\n")}}
			}
			err = ReplaceAll(dir, changes)
			if tt.want == "" {
				want = "new\n"
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			text, _ := os.ReadFile(a)
			info, err := os.Stat(a)
			if string(text) != want || err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("%q, %v, %v", text, info.Mode(), err)
			}
		})
	}
}

// TestReplaceAllBack gives files their old contents back if a later one cannot be written.
func TestReplaceAllBack(t *testing.T) {
	dir := t.TempDir()
	a, below := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	err := errors.Join(os.WriteFile(a, []byte("old"), 0o600), os.Mkdir(below, 0o700),
		os.WriteFile(filepath.Join(below, "c"), []byte("old"), 0o600), os.Chmod(below, 0o500))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(below, 0o700) })
	if file, err := os.Create(filepath.Join(below, "x")); err == nil {
		_ = file.Close()
		t.Skip("this user may write everywhere")
	}
	err = ReplaceAll(dir, []Change{{"a", []byte("old"), []byte("new")}, {filepath.Join("b", "c"), []byte("old"), []byte("new")}})
	if text, _ := os.ReadFile(a); err == nil || string(text) != "old" {
		t.Errorf("%q, %v", text, err)
	}
}

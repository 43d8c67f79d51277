package files

import (
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

package tree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/kustomize"
)

// TestReadFile reads files of a tree, and refuses what an artifact does not have.
func TestReadFile(t *testing.T) {
	above := t.TempDir()
	root := filepath.Join(above, "tree")
	for _, name := range []string{"tree/apps/web.yaml", "tree/large.yaml", "outside.yaml"} {
		name = filepath.Join(above, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("a: 1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(root, "large.yaml"), kustomize.MaxFile+1); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"file.yaml": "apps/web.yaml", "folder": "apps", "out": "..", "out.yaml": "../outside.yaml"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"apps/web.yaml":      "",
		"apps/../large.yaml": "no regular file of at most",
		"apps":               "no regular file",
		"none.yaml":          "no such file",
		"file.yaml":          "file.yaml is a symbolic link",
		"folder/web.yaml":    "folder is a symbolic link",
		"out/outside.yaml":   "out is a symbolic link",
		"out.yaml":           "out.yaml is a symbolic link",
		"../outside.yaml":    "outside of the tree",
		"/etc/passwd":        "outside of the tree",
		"":                   "outside of the tree",
	} {
		text, err := ReadFile(root, name)
		if want == "" && (err != nil || string(text) != "a: 1\n") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q, %v, want %q", name, text, err, want)
		}
	}
}

// TestSharedBy finds the kustomizations that include a file, also through others.
func TestSharedBy(t *testing.T) {
	root := grow(t, map[string]string{
		"base/kustomization.yaml":   "resources: [web.yaml]\nconfigMapGenerator: [{name: a, files: [values.yaml=v.yaml, w.yaml]}]\n",
		"prod/kustomization.yaml":   "resources: [../base, own.yaml]\n",
		"test/kustomization.yaml":   "components: [../base]\n",
		"one/kustomization.yaml":    "resources: [../prod]\n",
		"cycle/kustomization.yaml":  "resources: [../cycle, x.yaml]\n",
		"broken/kustomization.yaml": "resources: [\n",
	})
	for name, want := range map[string]string{
		"base/web.yaml": "prod/kustomization.yaml test/kustomization.yaml",
		"base/v.yaml":   "prod/kustomization.yaml test/kustomization.yaml",
		"base/w.yaml":   "prod/kustomization.yaml test/kustomization.yaml",
		"prod/own.yaml": "",
		"cycle/x.yaml":  "",
		"other.yaml":    "",
	} {
		got, err := SharedBy(root, name)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
}

// TestChanged builds a folder with a file that has another content than on the disk.
func TestChanged(t *testing.T) {
	root := grow(t, map[string]string{"apps/a.yaml": configMap("a"), "apps/b.yaml": configMap("b")})
	order := Order{Dir: filepath.Join(root, "apps"), Root: root, Changed: map[string][]byte{"apps/b.yaml": []byte(configMap("c"))}}
	answer, err := Build(t.Context(), order, Outside{})
	if err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, o := range answer.Objects {
		names += keyOf(o.Map()).name + " " + o.File + " "
		if o.Dir != root {
			t.Errorf("%s is in %s, not in %s", o.File, o.Dir, root)
		}
	}
	if names != "a apps/a.yaml c apps/b.yaml " {
		t.Error(names)
	}
}

package tree

import (
	"testing"
)

// TestArtifact says which files of a tree are in its artifact. TestTrees in test/gitops compares random rules with the library of Flux.
func TestArtifact(t *testing.T) {
	root := grow(t, map[string]string{"a/x.yaml": "", "a/logo.png": "", ".github/w.yaml": "", ".git/config": "", "b/.flux.yaml": "",
		"c/.git": "gitdir: x"})
	inBucket := grow(t, map[string]string{"a/logo.png": "", ".github/w.yaml": "", "b/.flux.yaml": "", "d/.sourceignore": "x", "d/x": "",
		".sourceignore": "/e", "e": ""})
	for _, tt := range []struct {
		kind, ignore string
		has          []string
		not          []string
	}{
		{"GitRepository", "", []string{"a", "a/x.yaml", "./a/x.yaml", "b", "."}, []string{"a/logo.png", ".github/w.yaml", ".git", ".git/config",
			"b/.flux.yaml", "no", "c/.git", "../x"}},
		{"GitRepository", "nothing", []string{"a/logo.png", ".github/w.yaml", "b/.flux.yaml"}, []string{".git/config"}},
		{"GitRepository", "/a\n!/a/x.yaml\n!.git/", []string{"a/x.yaml"}, []string{"a/logo.png", ".git/config"}},
		{"Bucket", "", []string{"a/logo.png", ".github/w.yaml", "b/.flux.yaml", "d/x"}, []string{"e"}},
		{"Bucket", "*.png", []string{".github/w.yaml", "b/.flux.yaml"}, []string{"a/logo.png", "e"}},
	} {
		if tt.kind == "Bucket" {
			root = inBucket
		}
		a, err := OpenArtifact(root, tt.kind, tt.ignore)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range tt.has {
			if !a.Has(name) {
				t.Errorf("%q: %s is not there", tt.ignore, name)
			}
		}
		for _, name := range tt.not {
			if a.Has(name) {
				t.Errorf("%q: %s is there", tt.ignore, name)
			}
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

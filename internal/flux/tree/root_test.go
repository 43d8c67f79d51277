package tree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestRepositories has addresses of repositories, and whether they name the same one.
func TestRepositories(t *testing.T) {
	for _, tt := range []struct {
		address, want string
	}{
		{"https://github.com/org/fleet", "github.com/org/fleet"},
		{"https://user:pass@GitHub.com/org/fleet.git", "github.com/org/fleet"},
		{"https://github.com:443/org/fleet/", "github.com/org/fleet"},
		{"ssh://git@github.com/org/fleet.git", "github.com/org/fleet"},
		{"ssh://git@github.com:22/org/fleet", "github.com/org/fleet"},
		{"git@github.com:org/fleet.git", "github.com/org/fleet"},
		{"github.com:org/fleet", "github.com/org/fleet"},
		{"https://github.com/org/Fleet", "github.com/org/Fleet"},
		{"https://github.com/org/fleet2", "github.com/org/fleet2"},
		{"https://gitlab.com/org/fleet", "gitlab.com/org/fleet"},
		{"https://dev.azure.com/org/project/_git/fleet", "dev.azure.com/org/project/_git/fleet"},
		{"/srv/git/fleet.git", "/srv/git/fleet"},
		{"file:///srv/git/fleet.git", "/srv/git/fleet"},
	} {
		if got := repositoryOf(tt.address); got != tt.want {
			t.Errorf("%s is %s, want %s", tt.address, got, tt.want)
		}
	}
}

// TestFindRoot finds the root of a working tree, of a second one, and of a folder that is none.
func TestFindRoot(t *testing.T) {
	config := "[core]\n\turl = https://wrong\n[remote \"origin\"]\n" +
		"\turl = git@github.com:org/fleet.git\n\tfetch = x\n\tpushurl = https://push\n" +
		"[branch \"main\"]\n\turl = https://wrong\n[remote \"up\"]\n\tURL = \"https://github.com/up/fleet\" # comment\n"
	base := grow(t, map[string]string{"repo/.git/config": config, "repo/.git/worktrees/two/HEAD": "x", "repo/apps/web/a.yaml": "",
		"plain/a.yaml":   "",
		"bare/.git/HEAD": "x"})
	if err := os.WriteFile(filepath.Join(grow(t, nil), ".git"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	two := grow(t, map[string]string{".git": "gitdir: " + filepath.Join(base, "repo/.git/worktrees/two") + "\n", "apps/a.yaml": ""})
	remotes := []string{"git@github.com:org/fleet.git", "https://github.com/up/fleet"}
	for _, tt := range []struct {
		dir, root string
		remotes   []string
	}{
		{filepath.Join(base, "repo/apps/web"), filepath.Join(base, "repo"), remotes},
		{filepath.Join(base, "repo"), filepath.Join(base, "repo"), remotes},
		{filepath.Join(two, "apps"), two, remotes},
		{filepath.Join(base, "plain"), filepath.Join(base, "plain"), nil},
		{filepath.Join(base, "bare"), filepath.Join(base, "bare"), nil},
	} {
		root, got, err := FindRoot(tt.dir)
		if want, _ := filepath.EvalSymlinks(tt.root); err != nil || root != want || !slices.Equal(got, tt.remotes) {
			t.Errorf("the root of %s is %s with %v, %v", tt.dir, root, got, err)
		}
	}
	if _, _, err := FindRoot(filepath.Join(base, "repo/.git/config")); err == nil {
		t.Error("a file is a folder")
	}
}

// TestArtifact says which files of a tree are in its artifact. TestTrees in test/gitops compares random rules with the library of Flux.
func TestArtifact(t *testing.T) {
	root := grow(t, map[string]string{"a/x.yaml": "", "a/logo.png": "", ".github/w.yaml": "", ".git/config": "", "b/.flux.yaml": "",
		"c/.git": "gitdir: x"})
	for _, tt := range []struct {
		ignore string
		has    []string
		not    []string
	}{
		{"", []string{"a", "a/x.yaml", "./a/x.yaml", "b", "."}, []string{"a/logo.png", ".github/w.yaml", ".git", ".git/config",
			"b/.flux.yaml", "no", "c/.git", "../x"}},
		{"nothing", []string{"a/logo.png", ".github/w.yaml", "b/.flux.yaml"}, []string{".git/config"}},
		{"/a\n!/a/x.yaml\n!.git/", []string{"a/x.yaml"}, []string{"a/logo.png", ".git/config"}},
	} {
		a, err := OpenArtifact(root, tt.ignore)
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

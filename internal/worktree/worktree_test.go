package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
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
		if got := Repository(tt.address); got != tt.want {
			t.Errorf("%s is %s, want %s", tt.address, got, tt.want)
		}
	}
}

// TestFind finds the root of a working tree, of a second one, and of a folder that is none.
func TestFind(t *testing.T) {
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
		root, got, err := Find(tt.dir)
		if want, _ := filepath.EvalSymlinks(tt.root); err != nil || root != want || !slices.Equal(got, tt.remotes) {
			t.Errorf("the root of %s is %s with %v, %v", tt.dir, root, got, err)
		}
	}
	if _, _, err := Find(filepath.Join(base, "repo/.git/config")); err == nil {
		t.Error("a file is a folder")
	}
}

// grow writes files below a new folder.
func grow(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestHasTag finds tags that are files, and packed ones.
func TestHasTag(t *testing.T) {
	many := strings.Repeat("0123456789012345678901234567890123456789 refs/heads/some-branch\n", 20_000) // more than 1 MiB
	dir := grow(t, map[string]string{".git/refs/tags/v1": "x", ".git/packed-refs": "# pack-refs\n0123 refs/heads/main\n" + many + "0123 refs/tags/old\n"})
	for name, want := range map[string]bool{"v1": true, "old": true, "main": false, "ol": false, "../heads": false, "": false} {
		if got := hasTag(dir, name); got != want {
			t.Errorf("tag %q: %v, want %v", name, got, want)
		}
	}
}

// TestHas has revisions, and whether the tree has them.
func TestHas(t *testing.T) {
	tree := Tree{Root: grow(t, map[string]string{".git/refs/tags/stable": "x"}), Remotes: []string{"git@github.com:org/fleet.git"}}
	for _, tt := range []struct {
		address, revision string
		want              bool
	}{
		{"https://github.com/org/fleet", "", true},
		{"https://github.com/org/fleet", "HEAD", true},
		{"https://github.com/org/fleet.git", "main", true},
		{"https://github.com/org/fleet.git", "refs/heads/main", true},
		{"https://github.com/org/fleet.git", "release-1.2", true},
		{"https://github.com/org/fleet.git", "feature/x", true},
		{"https://github.com/org/fleet.git", "stable", false},
		{"https://github.com/org/fleet.git", "refs/tags/stable", false},
		{"https://github.com/org/fleet.git", "da39a3ee5e6b4b0d3255bfef95601890afd80709", false},
		{"https://github.com/org/fleet.git", "da39a3e", false},
		{"https://github.com/org/fleet.git", "v1.2.3", false},
		{"https://github.com/org/fleet.git", "1.x", false},
		{"https://github.com/org/fleet.git", "^1.2", false},
		{"https://github.com/org/fleet.git", "v1.*", false},
		{"https://github.com/org/other", "main", false},
		{"", "", false},
	} {
		if got := tree.Has(tt.address, tt.revision); got != tt.want {
			t.Errorf("%s at %q: %v, want %v", tt.address, tt.revision, got, tt.want)
		}
	}
}

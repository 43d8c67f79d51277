package kustomize

import "testing"

// TestBaseOf checks which repository, commit and folder an address names.
func TestBaseOf(t *testing.T) {
	for address, want := range map[string][3]string{
		"https://github.com/org/repo//deploy/base?ref=v1":                 {"https://github.com/org/repo", "v1", "deploy/base"},
		"https://github.com/org/repo/deploy/base?ref=v1":                  {"https://github.com/org/repo", "v1", "deploy/base"},
		"github.com/org/repo/deploy?ref=main":                             {"https://github.com/org/repo", "main", "deploy"},
		"git::https://example.com/group/sub/repo.git/deploy?version=v2":   {"https://example.com/group/sub/repo.git", "v2", "deploy"},
		"https://example.com/group/sub/repo.git":                          {"https://example.com/group/sub/repo.git", "", "."},
		"https://example.com/group/sub/repo//?ref=a&timeout=90s":          {"https://example.com/group/sub/repo", "a", "."},
		"https://example.com/org/repo//a/../../../etc?ref=a":              {"https://example.com/org/repo", "a", "etc"},
		"https://raw.example.com/org/repo/v1/crds.yaml":                   {"https://raw.example.com/org/repo/v1/crds.yaml", "", "crds.yaml"},
		"https://example.com/org/repo/config.yaml?ref=v1":                 {"https://example.com/org/repo", "v1", "config.yaml"},
		"https://example.com/org/repo//a.yaml":                            {"https://example.com/org/repo", "", "a.yaml"},
		"https://example.com/org/repo//deploy?ref=v1&submodules=false#at": {"https://example.com/org/repo", "v1", "deploy"},
	} {
		base, inside, err := baseOf(address)
		if got := [3]string{base.URL, base.Ref, inside}; err != nil || got != want {
			t.Errorf("%s: %q, %v", address, got, err)
		}
		if base.IsFile != (address == "https://raw.example.com/org/repo/v1/crds.yaml") {
			t.Errorf("%s: a file: %v", address, base.IsFile)
		}
	}
	for _, address := range []string{"http://example.com/a/b", "ssh://git@example.com/a/b", "git@example.com:a/b", "file:///etc",
		"https://user@example.com/a/b", "https://user:pw@example.com/a/b", "gh:a/b", "https:a/b", "git::file:///etc"} {
		if base, _, err := baseOf(address); err == nil {
			t.Errorf("%s is taken for %s", address, base)
		}
	}
}

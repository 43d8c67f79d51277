package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestDebian installs the package for Debian with dpkg into a folder, runs what is there, and removes it.
func TestDebian(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil || os.Getuid() != 0 {
		t.Skip("dpkg installs packages as root only")
	}
	for _, file := range packages(t, "deb") {
		if strings.Contains(file, "_"+runtime.GOARCH+".deb") {
			installDebian(t, file)
		} else {
			listDebian(t, file)
		}
	}
}

// installDebian installs a package, runs it, and removes it.
func installDebian(t *testing.T, file string) {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"updates", "info"} {
		must(t, os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644))
	dpkg := func(args ...string) string {
		return run(t, root, nil, "dpkg", append([]string{"--root=" + root}, args...)...)
	}
	dpkg("--install", file)
	if got, want := installed(t, root), contents(t, "deb"); !slices.Equal(got, want) {
		t.Errorf("dpkg installs\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	program := filepath.Join(root, "usr/bin/helmdrift")
	if out := run(t, root, nil, program, "version"); !strings.HasPrefix(out, "helmdrift v") {
		t.Errorf("helmdrift version: %s", out)
	}
	if out := run(t, root, nil, program, savedReport(t, "text")...); !strings.Contains(out, "helmdrift fix web -n") {
		t.Errorf("helmdrift diff: %s", out)
	}
	completion := filepath.Join(root, "usr/share/bash-completion/completions/helmdrift")
	if out := run(t, root, nil, "bash", "-c", `. "$0" && complete -p helmdrift`, completion); !strings.Contains(out, "__start_helmdrift") {
		t.Errorf("bash does not complete helmdrift: %s", out)
	}
	if man, err := exec.LookPath("man"); err == nil {
		pages := filepath.Join(root, "usr/share/man")
		if out := run(t, root, nil, man, "-M", pages, "-w", "helmdrift-diff"); !strings.HasPrefix(out, pages) {
			t.Errorf("man finds no page: %s", out)
		}
	}
	status := dpkg("--status", "helmdrift")
	if !strings.Contains(status, "Maintainer: helmdrift <") || !strings.Contains(status, "\nDescription: ") {
		t.Errorf("dpkg --status: %s", status)
	}
	dpkg("--purge", "helmdrift")
	if left := installed(t, root); len(left) > 0 {
		t.Errorf("dpkg --purge leaves %s", left)
	}
}

// installed lists what is in a root folder, without what dpkg knows of it.
func installed(t *testing.T, root string) []string {
	t.Helper()
	all := slices.DeleteFunc(listed(t, root), func(name string) bool { return strings.HasPrefix(name, "var/l") })
	slices.Sort(all)
	return all
}

// listDebian checks the files of a package for another architecture.
func listDebian(t *testing.T, file string) {
	t.Helper()
	dir := t.TempDir()
	run(t, dir, nil, "dpkg-deb", "--extract", file, dir)
	if got, want := installed(t, dir), contents(t, "deb"); !slices.Equal(got, want) {
		t.Errorf("%s has\n%s\nwant\n%s", filepath.Base(file), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Command guests proves that the core of helmdrift does not need its guests: for each guest it copies the tree, removes the guest's folders,
// its files and its line in cmd/helmdrift/guests.go, and builds and vets what is left. It ends with 1 if that fails for a guest.
//
// Run it in the root of the repository. Arguments name the guests to try; none means all.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// guest is what belongs to a guest: the function whose call is its line in cmd/helmdrift/guests.go, and its folders and files.
type guest struct {
	name, function string
	paths          []string
}

func guests() []guest {
	return []guest{
		{"absorb", "absorbGuest", []string{
			"internal/absorb", "internal/jobs/variants.go", "cmd/helmdrift/absorb.go", "internal/output/absorb.go", "internal/output/values",
			"internal/output/text/absorb", "pkg/report/absorption",
		}},
		{"forecast", "forecastGuest", []string{"internal/forecast", "cmd/helmdrift/forecast.go"}},
		{"fleet", "fleetGuest", []string{
			"pkg/fleet", "internal/search", "internal/sweep", "cmd/helmdrift/scan.go", "cmd/helmdrift/list.go",
		}},
		{"snapshot", "snapshotGuest", []string{"pkg/snapshot", "cmd/helmdrift/snapshot.go"}},
		{"history", "historyGuest", []string{
			"pkg/history", "cmd/helmdrift/history.go", "internal/output/history.go", "internal/output/text/history",
			"internal/output/html/history.go", "pkg/report/past",
		}},
		{"flux", "fluxGuest", []string{"internal/flux", "cmd/helmdrift/flux.go", "cmd/helmdrift/flux_absorb.go", "cmd/helmdrift/flux_all.go",
			"cmd/helmdrift/flux_snapshot.go"}},
		{"argo", "argoGuest", []string{"internal/argo", "internal/engine/argocd", "cmd/helmdrift/argo.go", "cmd/helmdrift/argo_absorb.go"}},
		{"terraform", "terraformGuest", []string{"internal/terraform", "cmd/helmdrift/terraform.go"}},
		{"helmfile", "helmfileGuest", []string{"internal/helmfile", "internal/program/helmfile.go", "cmd/helmdrift/helmfile.go"}},
		{"rollout", "rolloutGuest", []string{"pkg/rollout", "internal/waiting", "cmd/helmdrift/fix_wait.go"}},
	}
}

func main() {
	failed := false
	for _, g := range guests() {
		if len(os.Args) > 1 && !slices.Contains(os.Args[1:], g.name) {
			continue
		}
		if err := without(g); err != nil {
			fmt.Printf("%s: %v\n", g.name, err)
			failed = true
		} else {
			fmt.Printf("%s: the rest builds without it\n", g.name)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// without builds a copy of the tree that lacks a guest.
func without(g guest) error {
	dir, err := os.MkdirTemp("", "guests")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder that stays harms nobody
	if err := copyTree(dir); err != nil {
		return err
	}
	for _, path := range g.paths {
		full := filepath.Join(dir, path)
		if _, err := os.Stat(full); err != nil {
			return fmt.Errorf("its files in tools/cmd/guests are not those of the tree: %w", err)
		}
		if err := os.RemoveAll(full); err != nil {
			return err
		}
	}
	if err := removeLine(filepath.Join(dir, "cmd/helmdrift/guests.go"), g.function+"(),"); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "./cmd/...", "./internal/...", "./pkg/...")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// copyTree copies the files that git knows, or would add, into a folder.
func copyTree(dir string) error {
	list, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "cmd", "internal", "pkg", "go.mod", "go.sum").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		} else if err != nil {
			return err
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// removeLine removes the line of a file that is text apart from its indentation.
func removeLine(name, text string) error {
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	lines := bytes.SplitAfter(content, []byte("\n"))
	i := slices.IndexFunc(lines, func(line []byte) bool { return string(bytes.TrimSpace(line)) == text })
	if i < 0 {
		return fmt.Errorf("%s has no line %s", filepath.Base(name), text)
	}
	return os.WriteFile(name, bytes.Join(slices.Delete(lines, i, i+1), nil), 0o600)
}

// Command guests proves that the core of helmdrift does not need its guests: for each guest it copies the tree, removes the guest's
// folders, its files and its line in cmd/helmdrift/guests.go, and builds what is left. It ends with 1 if that fails for a guest.
//
// Run it in the root of the repository. Arguments name the guests to try; none means all. With -size it also says how many bytes each guest
// adds to the stripped binary.
package main

import (
	"bytes"
	"flag"
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
			"pkg/fleet", "internal/search", "internal/sweep", "cmd/helmdrift/scan.go", "cmd/helmdrift/list.go", "internal/output/list.go",
			"internal/output/text/list.go", "pkg/report/listing",
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
	withSize := flag.Bool("size", false, "say how many bytes each guest adds to the stripped binary")
	flag.Parse()
	failed, whole := false, int64(0)
	if *withSize {
		var err error
		if whole, err = sizeOf("."); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Printf("all: %d bytes\n", whole)
	}
	for _, g := range guests() {
		if flag.NArg() > 0 && !slices.Contains(flag.Args(), g.name) {
			continue
		}
		rest, err := without(g, *withSize)
		switch {
		case err != nil:
			fmt.Printf("%s: %v\n", g.name, err)
			failed = true
		case *withSize:
			fmt.Printf("%s: the rest builds without it, and it adds %d bytes\n", g.name, whole-rest)
		default:
			fmt.Printf("%s: the rest builds without it\n", g.name)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// without builds a copy of the tree that lacks a guest. It returns the size of the stripped binary if withSize is set.
func without(g guest, withSize bool) (int64, error) {
	dir, err := os.MkdirTemp("", "guests")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder that stays harms nobody
	if err := copyTree(dir); err != nil {
		return 0, err
	}
	for _, path := range g.paths {
		full := filepath.Join(dir, path)
		if _, err := os.Stat(full); err != nil {
			return 0, fmt.Errorf("its files in tools/cmd/guests are not those of the tree: %w", err)
		}
		if err := os.RemoveAll(full); err != nil {
			return 0, err
		}
	}
	if err := removeLine(filepath.Join(dir, "cmd/helmdrift/guests.go"), g.function+"(),"); err != nil {
		return 0, err
	}
	if err := build(dir, "./cmd/...", "./internal/...", "./pkg/..."); err != nil || !withSize {
		return 0, err
	}
	return sizeOf(dir)
}

// sizeOf returns the size of the stripped binary that is built of a tree.
func sizeOf(tree string) (int64, error) {
	out, err := os.MkdirTemp("", "guests")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(out) //nolint:errcheck // a folder that stays harms nobody
	binary := filepath.Join(out, "helmdrift")
	if err := build(tree, "-ldflags=-s -w", "-o", binary, "./cmd/helmdrift"); err != nil {
		return 0, err
	}
	info, err := os.Stat(binary)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// build runs go build in a tree.
func build(tree string, arguments ...string) error {
	cmd := exec.Command("go", append([]string{"build"}, arguments...)...)
	cmd.Dir, cmd.Env = tree, append(os.Environ(), "GOFLAGS=-buildvcs=false -trimpath", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// copyTree copies the files that git knows, or would add, into a folder.
func copyTree(dir string) error {
	list, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard",
		"cmd", "internal", "pkg", "go.mod", "go.sum").Output()
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

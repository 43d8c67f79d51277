package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// checkAPI compares the packages that other modules can import with the packages of the last tag.
func checkAPI(dir string, out io.Writer, apidiff string, entries []entry) error {
	tag, err := lastTag(dir)
	if err != nil {
		return err
	}
	if tag == "" {
		_, err := fmt.Fprintln(out, "apidiff: there is no tag yet, so there is nothing to compare with")
		return err
	}
	changes, err := incompatible(dir, tag, apidiff)
	if err != nil {
		return err
	}
	for _, change := range changes {
		named := slices.ContainsFunc(entries, func(e entry) bool { return slices.Contains(e.api, change) })
		if !named {
			err = errors.Join(err, fmt.Errorf("incompatible with %s, and no entry of changelog.d has the line\napi: %s", tag, change))
		}
	}
	if err == nil {
		_, err = fmt.Fprintf(out, "apidiff: %d incompatible changes since %s, all named in changelog.d\n", len(changes), tag)
	}
	return err
}

// lastTag returns the latest version tag before the commit that is checked out; empty if there is none.
func lastTag(dir string) (string, error) {
	tags, err := output(dir, "git", "tag", "--list", "v*", "--merged", "HEAD", "--sort", "-version:refname")
	first, _, _ := strings.Cut(tags, "\n")
	return strings.TrimSpace(first), err
}

// incompatible returns the incompatible changes between a tag and the files in dir, as apidiff writes them, without the dash.
func incompatible(dir, tag, apidiff string) ([]string, error) {
	temp, err := os.MkdirTemp("", "apidiff-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // nothing depends on it
	tree := filepath.Join(temp, "tree")
	if _, err := output(dir, "git", "clone", "--quiet", "--no-checkout", "--shared", ".", tree); err != nil {
		return nil, err
	}
	if _, err := output(tree, "git", "-c", "advice.detachedHead=false", "checkout", "--quiet", tag); err != nil {
		return nil, err
	}
	module, err := output(dir, "go", "list", "-m")
	if err != nil {
		return nil, err
	}
	before, after := filepath.Join(temp, "before"), filepath.Join(temp, "after")
	for file, of := range map[string]string{before: tree, after: dir} {
		if _, err := output(of, apidiff, "-m", "-w", file, strings.TrimSpace(module)); err != nil {
			return nil, err
		}
	}
	text, err := output(dir, apidiff, "-m", "-incompatible", before, after)
	var out []string
	for line := range strings.Lines(text) {
		if change, is := strings.CutPrefix(strings.TrimSpace(line), "- "); is {
			out = append(out, change)
		}
	}
	return out, err
}

// output runs a program in a folder and returns its standard output.
func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	// In a hook of git these name the repository of the hook, and git would use it in place of dir: "make check" before a push from a
	// worktree would check the tag out there.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"}, name)
	})
	out, err := cmd.Output()
	if exited := (*exec.ExitError)(nil); errors.As(err, &exited) {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, exited.Stderr)
	}
	return string(out), err
}

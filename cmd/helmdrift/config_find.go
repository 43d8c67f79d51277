package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// configName is the file that is looked for, from the working directory upwards.
const configName = ".helmdrift.yaml"

// configFinder looks for a configuration that nobody named. Such a file decides what counts, so it must be of those who may decide that:
// the search ends at the root of the repository and at the home directory, and a file of somebody else is an error, not silence.
type configFinder struct {
	home string
	env  func(string) string
}

// find looks in a directory and above it; the path is empty where there is no configuration. The directory is taken without symbolic
// links, so that what is above it is what holds it.
func (f configFinder) find(dir string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("looking for a configuration: %w", err)
	}
	for {
		path := filepath.Join(dir, configName)
		switch info, err := os.Stat(path); {
		case err == nil:
			return path, f.check(path, info)
		case !errors.Is(err, fs.ErrNotExist):
			return "", hinted{error: fmt.Errorf("looking for a configuration: %w", err), hint: "--config FILE names one"}
		}
		above := filepath.Dir(dir)
		if above == dir || f.endsAt(dir) {
			return "", nil
		}
		dir = above
	}
}

// endsAt reports whether nothing above a directory concerns what is in it: it is the root of a repository, or the home directory. In a
// worktree and in a submodule, .git is a file.
func (f configFinder) endsAt(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		return true
	}
	here, err := os.Stat(dir)
	if err != nil || f.home == "" {
		return false
	}
	home, err := os.Stat(f.home)
	return err == nil && os.SameFile(here, home)
}

// check refuses a file that somebody else may have written.
func (f configFinder) check(path string, info fs.FileInfo) error {
	why := "it is no regular file"
	if info.Mode().IsRegular() {
		var err error
		if why, err = distrust(path, f.env); err != nil {
			return fmt.Errorf("configuration %s: %w", path, err)
		}
	}
	if why == "" {
		return nil
	}
	return hinted{error: fmt.Errorf("configuration %s is not used: %s", path, why),
		hint: "--config " + shellWord(path) + " uses it if you trust it, --config " + os.DevNull + " uses none"}
}

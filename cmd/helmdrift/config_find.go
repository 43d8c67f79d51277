package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// This file decides which configuration is used if --config names none. Whoever can put a file there decides what a run ignores, so the
// search is as careful as that of git for its repository.

// configName is the name of the file that is searched for, from the working directory upwards.
const configName = ".helmdrift.yaml"

// configFinder searches for a configuration file if --config does not name one. Such a file decides what counts as drift, so it must
// belong to somebody who may decide that: the search ends at the root of the repository and at the home directory, and a file that
// somebody else owns or can write to is an error. To skip it silently would hide that the rules of the team are not applied.
type configFinder struct {
	// home is the home directory, and env reads the environment.
	home string
	env  func(string) string
}

// find searches a directory and those above it. The path is empty if there is no configuration. Symbolic links in the directory are
// resolved first, so that "above" means the directories that really contain it.
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
			return "", hinted{error: fmt.Errorf("looking for a configuration: %w", err),
				hint: "--config FILE names one, --config " + os.DevNull + " uses none"}
		}
		above := filepath.Dir(dir)
		if above == dir || f.endsAt(dir) {
			return "", nil
		}
		dir = above
	}
}

// endsAt reports whether the search ends at a directory: it is the root of a repository, or the home directory. In a worktree and in a
// submodule, .git is a file.
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

// check returns an error for a file that somebody else may have written.
func (f configFinder) check(path string, info fs.FileInfo) error {
	reason := "it is not a regular file"
	if info.Mode().IsRegular() {
		var err error
		if reason, err = reasonToDistrust(path, f.env); err != nil {
			return fmt.Errorf("configuration %s: %w", path, err)
		}
	}
	if reason == "" {
		return nil
	}
	return hinted{error: fmt.Errorf("configuration %s is not used: %s", path, reason),
		hint: "--config " + shellWord(path) + " uses it if you trust it, --config " + os.DevNull + " uses none"}
}

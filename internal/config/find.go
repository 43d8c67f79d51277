package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// FileName is the name of the file that is searched for, from the working directory upwards.
const FileName = ".helmdrift.yaml"

// Finder searches for a configuration file if --config does not name one.
type Finder struct {
	// Home is the home directory.
	Home string
	// Env returns an environment variable; empty if it is not set.
	Env func(string) string
}

// Find searches a directory and those above it. The path is empty if there is no configuration. Symbolic links in the directory are
// resolved first, so that "above" means the directories that really contain it.
func (f Finder) Find(dir string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("looking for a configuration: %w", err)
	}
	for {
		path := filepath.Join(dir, FileName)
		switch info, err := os.Stat(path); {
		case err == nil:
			return path, f.check(path, info)
		case !errors.Is(err, fs.ErrNotExist):
			return "", hint.New(fmt.Errorf("looking for a configuration: %w", err),
				"--config FILE names one, --config "+os.DevNull+" uses none")
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
func (f Finder) endsAt(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		return true
	}
	here, err := os.Stat(dir)
	if err != nil || f.Home == "" {
		return false
	}
	home, err := os.Stat(f.Home)
	return err == nil && os.SameFile(here, home)
}

// check returns an error for a file that somebody else may have written.
func (f Finder) check(path string, info fs.FileInfo) error {
	reason := "it is not a regular file"
	if info.Mode().IsRegular() {
		var err error
		if reason, err = reasonToDistrust(path, f.Env); err != nil {
			return fmt.Errorf("configuration %s: %w", path, err)
		}
	}
	if reason == "" {
		return nil
	}
	return hint.New(fmt.Errorf("configuration %s is not used: %s", path, reason),
		"--config "+hint.ShellWord(path)+" uses it if you trust it, --config "+os.DevNull+" uses none")
}

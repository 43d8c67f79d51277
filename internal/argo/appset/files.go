package appset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// This file reads names and files of the tree. All paths are relative to its root and have slashes.

// walk calls do for each file below a folder. With yamlOnly, it calls do for files that may have objects, leaves out folders of charts, and
// goes on after a folder that cannot be read.
func (b *builder) walk(dir string, yamlOnly bool, do func(name string)) error {
	count := 0
	return fs.WalkDir(b.root.FS(), dir, func(name string, entry fs.DirEntry, err error) error {
		if count++; count > maxEntries {
			return fmt.Errorf("the tree has more than %d files and folders", maxEntries)
		}
		switch {
		case err != nil && (name == dir || !yamlOnly):
			return err
		case err != nil:
			b.problem(name, errors.New("it cannot be read"))
			return nil
		case path.Base(name) == ".git" && name != dir:
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case strings.Count(name, "/") >= maxDepth:
			return fmt.Errorf("the tree has more than %d folders inside each other, at %s", maxDepth, name)
		case entry.IsDir() && yamlOnly && b.has(name, "Chart.yaml"):
			return fs.SkipDir
		case entry.IsDir(), yamlOnly && !isYAML(name):
			return nil
		case entry.Type().IsRegular():
			do(name)
			return nil
		case entry.Type()&fs.ModeSymlink == 0:
			return nil // such as a pipe, which Git does not keep
		}
		info, err := b.root.Stat(name)
		switch {
		case err != nil && yamlOnly:
			b.problem(name, errors.New("it is a link that leads out of the tree or to nothing"))
		case err != nil:
		case info.Mode().IsRegular():
			do(name)
		}
		return nil
	})
}

// isYAML reports whether a file may have objects.
func isYAML(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
}

// has reports whether a folder has a file of a name.
func (b *builder) has(folder, name string) bool {
	_, err := b.root.Lstat(filepath.Join(filepath.FromSlash(folder), name))
	return err == nil
}

// read reads a file within the limits.
func (b *builder) read(name string) ([]byte, error) {
	if err := b.checkPath(name); err != nil {
		return nil, err
	}
	info, err := b.root.Stat(filepath.FromSlash(name))
	switch {
	case err != nil:
		return nil, errors.New("it is a link that leads out of the tree, or cannot be read")
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case info.Size() > maxFile:
		return nil, fmt.Errorf("it has %d MiB, and helmdrift reads %d", info.Size()>>20, maxFile>>20)
	}
	if text, isChanged := b.changed[name]; isChanged {
		return text, nil
	}
	file, err := b.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(file, maxFile))
	if b.bytes += int64(len(text)); b.bytes > maxBytes {
		return nil, fmt.Errorf("the tree has more than %d MiB to read", maxBytes>>20)
	}
	return text, err
}

// checkPath refuses a file that a link makes one of the repository itself, whose settings may have credentials.
func (b *builder) checkPath(name string) error {
	real, err := filepath.EvalSymlinks(filepath.Join(b.tree.Root, filepath.FromSlash(name)))
	if err != nil {
		return nil //nolint:nilerr // whoever reads it says so
	}
	inside, err := filepath.Rel(b.tree.Root, real)
	if err != nil || slices.Contains(strings.Split(filepath.ToSlash(inside), "/"), ".git") {
		return errors.New("it is a link into a folder .git")
	}
	return nil
}

// allFiles returns all files of the tree in their order. If they cannot be listed, helmdrift does not know what a generator makes of them.
func (b *builder) allFiles() ([]string, error) {
	if !b.isListed {
		b.isListed = true
		if err := b.walk(".", false, func(name string) { b.files = append(b.files, name) }); err != nil {
			b.unlisted = elsewhereError{err}
		}
	}
	return b.files, b.unlisted
}

// folders returns the folders that have files, without hidden ones, in the order of a walk (argo-cd v3.6.1
// reposerver/repository/repository.go walkDirectoryTree). Git keeps no folder without a file.
func (b *builder) folders() ([]string, error) {
	files, err := b.allFiles()
	return slices.DeleteFunc(foldersOf(files), isHidden), err
}

// hiddenFolders returns the folders that only count with the option api.SetHidden. That of the repository itself is one of them.
func (b *builder) hiddenFolders() []string {
	return append(slices.DeleteFunc(foldersOf(b.files), func(folder string) bool { return !isHidden(folder) }), ".git")
}

// isHidden reports whether a folder or one that it is in is hidden.
func isHidden(folder string) bool {
	return strings.HasPrefix(folder, ".") || strings.Contains(folder, "/.")
}

// foldersOf returns the folders of files in their order, but not the root.
func foldersOf(files []string) (out []string) {
	seen := map[string]bool{".": true}
	for _, name := range files {
		at := ""
		for step := range strings.SplitSeq(path.Dir(name), "/") {
			if at = path.Join(at, step); !seen[at] {
				seen[at] = true
				out = append(out, at)
			}
		}
	}
	return out
}

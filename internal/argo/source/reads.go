package source

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// This file finds out what the files of a source may have without rendering them.

// Reads reports whether a chart reads a file.
func (f *Folder) Reads(file string, refs map[string]*Folder, variables map[string]string) bool {
	if f.IsRef() {
		return false
	}
	values, err := f.Values(refs, variables)
	set, _ := values.Options.SetFileNames()
	if err == nil && slices.Contains(slices.Concat(values.Options.Files, set), file) {
		return true
	}
	inside, err := filepath.Rel(f.Dir, file)
	if err != nil || !filepath.IsLocal(inside) {
		return false
	}
	if kind, err := f.Kind(); err != nil || kind != KindChart {
		return false
	}
	mayRead, err := f.Mentions(".Files")
	return filepath.Base(file) == "values.yaml" || mayRead || err != nil
}

// Mentions reports whether a file of the folder has a word, or is an archive, whose files are not looked at.
func (f *Folder) Mentions(word string) (bool, error) {
	found := false
	err := filepath.WalkDir(f.Dir, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.IsDir():
			return nil
		case entry.Type()&fs.ModeSymlink != 0, filepath.Ext(file) == ".tgz":
			found = true // the renderer says where links may lead
			return fs.SkipAll
		case !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if err != nil || info.Size() > mostBytes {
			return errors.Join(err, errors.New("a file is too large"))
		}
		text, err := os.ReadFile(file) //nolint:gosec // it is no link, and below a folder of the tree
		if found = bytes.Contains(text, []byte(word)); found && err == nil {
			return fs.SkipAll
		}
		return err
	})
	return found, err
}

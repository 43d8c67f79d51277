package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// replaceWith writes a file at once: a reader sees the whole new one or the old one, and a full disk leaves the old one.
func replaceWith(name string, content []byte, mode fs.FileMode) error {
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*") // its mode is 0600
	if err != nil {
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			path.Path = name // nobody knows the temporary file
		}
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

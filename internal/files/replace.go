package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes a file at once: a reader sees the whole new one or the old one, and a full disk leaves the old one.
func Replace(name string, content []byte, mode fs.FileMode) error {
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

// Update writes a file at once, as Replace does. What is no regular file, such as a pipe, is written as it is.
func Update(name string, content []byte) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return write(name, content, os.O_WRONLY, 0)
	}
	return Replace(name, content, 0o644)
}

// Append adds to the end of a file.
func Append(name string, content []byte) error {
	return write(name, content, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
}

// write opens a file with flags of os.OpenFile and writes content to it.
func write(name string, content []byte, flags int, mode fs.FileMode) error {
	file, err := os.OpenFile(name, flags, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

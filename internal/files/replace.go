package files

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// The permissions of new files: what everybody may read, and what holds secrets.
const (
	Public  fs.FileMode = 0o644
	Private fs.FileMode = 0o600
)

// Replace writes a file at once, with a mode: a reader sees the whole new one or the old one, and a full disk leaves the old one.
func Replace(name string, content []byte, mode fs.FileMode) error {
	return replace(name, content, Private, func(file *os.File) error { return file.Chmod(mode) })
}

// replace writes a temporary file that is created with a mode, as far as the umask allows it, finishes it, and renames it.
func replace(name string, content []byte, mode fs.FileMode, finish func(*os.File) error) error {
	file, err := createTemp(filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."), mode)
	if err != nil {
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			path.Path = name // nobody knows the temporary file
		}
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, finish(file), file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// createTemp creates a file whose name begins with a text and did not exist. Unlike os.CreateTemp it takes a mode, to which the system
// applies the umask.
func createTemp(head string, mode fs.FileMode) (*os.File, error) {
	for try := 0; ; try++ {
		file, err := os.OpenFile(head+rand.Text(), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) || try == 100 {
			return file, err
		}
	}
}

// Update writes a file at once, as Replace does. A new file gets the mode without what the umask forbids; one that is there keeps its
// own permissions, but none that the mode does not have. What is no regular file, such as a pipe, is written as it is.
func Update(name string, content []byte, mode fs.FileMode) error {
	info, err := os.Stat(name)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return write(name, content, os.O_WRONLY, 0)
	case err == nil:
		return Replace(name, content, info.Mode().Perm()&mode)
	}
	return replace(name, content, mode, func(*os.File) error { return nil })
}

// Append adds to the end of a file. A new file gets the mode without what the umask forbids.
func Append(name string, content []byte, mode fs.FileMode) error {
	return write(name, content, os.O_WRONLY|os.O_APPEND|os.O_CREATE, mode)
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

package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNotRegular is the error of a pipe, a device, a socket or a folder where a file is wanted. A pipe without a writer would never be read,
// and a device may have no end.
var ErrNotRegular = errors.New("it is not a regular file")

// Open opens a regular file for reading.
func Open(name string) (*os.File, error) {
	// Opening a pipe would wait for a writer.
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrNotRegular}
	}
	return os.Open(name)
}

// Read returns the content of a regular file of at most limit bytes.
func Read(name string, limit int64) ([]byte, error) {
	file, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	return ReadAll(name, file, limit)
}

// ReadAll returns what a reader has, if that is at most limit bytes. Name is what errors call it.
func ReadAll(name string, from io.Reader, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err == nil && int64(len(text)) > limit {
		return nil, fmt.Errorf("%s has more than %d MiB", name, limit>>20)
	}
	return text, err
}

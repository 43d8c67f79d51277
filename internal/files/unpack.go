package files

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
)

// Unpack returns a new folder with the files of a tar archive. Done removes it; it is never nil.
func Unpack(archive []byte) (dir string, done func(), err error) {
	if dir, err = TempDir(); err != nil {
		return "", func() {}, err
	}
	return dir, func() { _ = os.RemoveAll(dir) }, unpack(archive, dir)
}

// unpack writes the regular files of a tar archive below a folder. Source-controller leaves out everything else.
func unpack(archive []byte, to string) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading the files of the commit: %w", err)
		case header.Typeflag != tar.TypeReg:
			continue
		}
		name := filepath.FromSlash(path.Clean(header.Name))
		if !filepath.IsLocal(name) {
			return fmt.Errorf("the commit has the file %s outside of its folder", header.Name)
		}
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		file, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, r)
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
}

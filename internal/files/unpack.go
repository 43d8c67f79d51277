package files

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/helmdrift/helmdrift/internal/tempdir"
)

// Unpack returns a new folder with the regular files of a tar archive, and with its symbolic links if withLinks is set: a link that leads
// out of the folder is an error then. Done removes the folder; it is never nil.
func Unpack(archive []byte, withLinks bool) (dir string, done func(), err error) {
	if dir, err = tempdir.New(); err != nil {
		return "", func() {}, err
	}
	return dir, func() { _ = os.RemoveAll(dir) }, unpack(archive, dir, withLinks)
}

// unpack writes what Unpack says below a folder. The links come last, so that no file is written through one.
func unpack(archive []byte, to string, withLinks bool) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	linkTo := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return addLinks(root, linkTo)
		case err != nil:
			return fmt.Errorf("reading the files of the commit: %w", err)
		case header.Typeflag != tar.TypeReg && !(withLinks && header.Typeflag == tar.TypeSymlink):
			continue
		}
		name := filepath.FromSlash(path.Clean(header.Name))
		if !filepath.IsLocal(name) {
			return fmt.Errorf("the commit has the file %s outside of its folder", header.Name)
		}
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if header.Typeflag == tar.TypeSymlink {
			linkTo[name] = header.Linkname
			continue
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

// addLinks adds symbolic links, and checks that none leads out of the folder. One may lead to nothing.
func addLinks(root *os.Root, linkTo map[string]string) error {
	for name, target := range linkTo {
		if err := root.Symlink(target, name); err != nil {
			return err
		}
	}
	for name := range linkTo {
		if _, err := root.Stat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the commit has the symbolic link %s, which leads out of its folder", filepath.ToSlash(name))
		}
	}
	return nil
}

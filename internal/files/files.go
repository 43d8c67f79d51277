// Package files reads files that others may have written, and writes files so that an error leaves no half-written file. Replace also
// survives a crash: the file has the old content or all of the new one. Append, and Update of a pipe, write in place.
//
//	Replace    a new content for a file: in a temporary file beside it ─► on the disk ─► renamed over it
//	ReplaceAll new contents for files of a folder that nobody else has changed meanwhile: for all of them, or for none
//	Update     the same within the umask; a link is followed, and a pipe, a device or an open file of the process is written as it is
//	Append     adds to the end of a file that others add to as well
//	CreateAll  new files that must not exist: all of them, or none
//	Name       a file name for something whose name file systems may refuse
//	Open, Read the content of a regular file, up to a limit: no pipe that waits, no device without an end
//	Unpack     a tar archive in a new folder for temporary files (unpack.go)
//
// Unpack is here because writing an archive needs the same care: a stranger has made it, no file of it may come to stand outside of the
// folder, and the folder goes away even if the program is interrupted.
//
// The package knows nothing of what it reads and writes. Its errors come from package os, and name the file.
package files

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// CreateAll writes files that do not exist yet into a directory, which it creates if necessary: all of them or, if one cannot be written,
// none. The keys of files are their paths. Only the user can read them.
func CreateAll(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// written lists the files to remove if a later one fails. A file that existed before is not among them.
	var written []string
	for name, content := range files {
		err := create(name, content)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			written = append(written, name)
		}
		if err != nil {
			for _, w := range written {
				_ = os.Remove(w)
			}
			return err
		}
	}
	return nil
}

// create writes a file that must not exist. It follows no symbolic link, and the content is on the disk when it returns.
func create(name string, content []byte) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

// maxName is the greatest length of a file name. File systems allow 255 bytes; this leaves room for an extension.
const maxName = 200

// Name returns a file name, without an extension, for something that several words identify. Names of RBAC objects may contain colons and
// other characters that file names should not; Name escapes them, so that two things never have the same file. It cuts a name that is too
// long, and adds a hash of the whole name.
func Name(words ...string) string {
	escaped := make([]string, len(words))
	for i, word := range words {
		escaped[i] = escape(word)
	}
	name := strings.Join(escaped, "_")
	if len(name) > maxName {
		sum := sha256.Sum256([]byte(name))
		name = name[:maxName-len(sum)] + "_" + hex.EncodeToString(sum[:16])
	}
	return name
}

// escape escapes everything but ASCII letters, digits, dots and dashes as a percent sign and two hexadecimal digits.
func escape(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-'
		if plain {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}

// ErrNotRegular is the error for a pipe, a device, a socket or a folder in the place of a file. Reading a pipe without a writer would wait
// for ever, and a device may have no end.
var ErrNotRegular = errors.New("it is not a regular file")

// IsRegular reports whether a name is a regular file, or a link to one.
func IsRegular(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

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

// ReadAll returns the content of a reader, if it has at most limit bytes. Errors call it name.
func ReadAll(name string, from io.Reader, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err == nil && int64(len(text)) > limit {
		return nil, fmt.Errorf("%s has more than %d MiB", name, limit>>20)
	}
	return text, err
}

// These are the permissions of new files: files that everybody may read, and files with secrets.
const (
	Public  fs.FileMode = 0o644
	Private fs.FileMode = 0o600
)

// Replace replaces a file at once, with a mode: a reader sees either the old content or all of the new one, and a full disk
// leaves the old one.
func Replace(name string, content []byte, mode fs.FileMode) error {
	return replace(name, content, Private, func(file *os.File) error { return file.Chmod(mode) })
}

// Change is a new content of a file. Name is relative to a folder.
type Change struct {
	Name          string
	Before, After []byte
}

// ReplaceAll replaces files of a folder, and keeps their modes. It changes none if one of them is behind a link or is no regular file, or
// has another content than Before. If a file cannot be written, those written before get their old contents back.
func ReplaceAll(dir string, changes []Change) error {
	modes := make([]fs.FileMode, len(changes))
	for i, c := range changes {
		info, err := unchanged(dir, c)
		if err != nil {
			return err
		}
		modes[i] = info.Mode().Perm()
	}
	for i, c := range changes {
		if err := Replace(filepath.Join(dir, c.Name), c.After, modes[i]); err != nil {
			for n, done := range changes[:i] {
				err = errors.Join(err, Replace(filepath.Join(dir, done.Name), done.Before, modes[n]))
			}
			return err
		}
	}
	return nil
}

// unchanged returns what the system says about the file of a change, if it still has the old content.
func unchanged(dir string, c Change) (fs.FileInfo, error) {
	if !filepath.IsLocal(c.Name) {
		return nil, &fs.PathError{Op: "write", Path: c.Name, Err: errors.New("it is outside of the folder")}
	}
	var info fs.FileInfo
	at := dir
	for _, part := range strings.Split(filepath.Clean(c.Name), string(filepath.Separator)) {
		at = filepath.Join(at, part)
		var err error
		if info, err = os.Lstat(at); err != nil {
			return nil, err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return nil, &fs.PathError{Op: "write", Path: at, Err: errors.New("it is a symbolic link")}
		}
	}
	now, err := Read(at, int64(len(c.Before)))
	if err != nil || !bytes.Equal(now, c.Before) {
		return nil, errors.Join(fmt.Errorf("%s has changed meanwhile; nothing was written", c.Name), err)
	}
	return info, nil
}

// replace writes a temporary file that is created with a mode, as far as the umask allows it, finishes it, and renames it.
func replace(name string, content []byte, mode fs.FileMode, finish func(*os.File) error) error {
	file, err := createTemp(filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."), mode)
	if err != nil {
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			path.Path = name // the temporary name means nothing to the user
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

// createTemp creates a file whose name begins with a text and did not exist. Unlike os.CreateTemp it takes a mode; the system applies
// the umask to it.
func createTemp(head string, mode fs.FileMode) (*os.File, error) {
	for try := 0; ; try++ {
		file, err := os.OpenFile(head+rand.Text(), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) || try == 100 {
			return file, err
		}
	}
}

// Update writes a file at once, as Replace does. A new file gets the mode without what the umask forbids. An existing file keeps its own
// permissions, except those that the mode lacks. If the name is a symbolic link, Update writes the file that it leads to. If it is not a
// regular file, such as a pipe, or if it is an open file of the process, such as /dev/fd/3, Update adds to it directly.
func Update(name string, content []byte, mode fs.FileMode) error {
	info, err := os.Stat(name)
	link, linkErr := os.Lstat(name)
	isLink := linkErr == nil && link.Mode()&fs.ModeSymlink != 0
	switch {
	case err == nil && (!info.Mode().IsRegular() || isOpenFile(name)):
		return write(name, content, os.O_WRONLY|os.O_APPEND, 0)
	case err == nil && isLink:
		target, err := filepath.EvalSymlinks(name)
		if err != nil {
			return err
		}
		return Replace(target, content, info.Mode().Perm()&mode)
	case err == nil:
		return Replace(name, content, info.Mode().Perm()&mode)
	case isLink: // to a file that is not there yet
		return write(name, content, os.O_WRONLY|os.O_CREATE, mode)
	}
	return replace(name, content, mode, func(*os.File) error { return nil })
}

// isOpenFile reports whether a name stands for a file that the process has open. The folder of such a name cannot be written, or it is
// /dev, where a link such as /dev/stdout must stay for all other programs.
func isOpenFile(name string) bool {
	at, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return false
	}
	if real, err := filepath.EvalSymlinks(at); err == nil {
		at = real
	}
	return at == "/dev" || at == "/dev/fd" || strings.HasPrefix(at, "/proc/")
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

package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// CreateAll writes files that do not exist yet into a directory, which it creates if necessary: all of them or, if one cannot be written,
// none. The keys of files are their paths. Only the user can read them.
func CreateAll(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// written lists what has to be removed if a later file fails. A file that existed is not among them.
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

// maxName is how long a file name may be. File systems allow 255 bytes; some room is left for the extension.
const maxName = 200

// Name returns a file name, without an extension, for something that several words identify. Names of RBAC objects may contain colons and
// other characters that file names should not; they are escaped, so that two things never have the same file. A name that is too long is
// cut and ends in a hash of all of it.
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

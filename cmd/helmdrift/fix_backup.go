package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file writes the objects that a fix will change to a directory, one YAML file each, so that kubectl can restore them.
// A backup is made for a bad day: it is on the disk before the first write, and it never replaces an older one.

// maxFileName is how long the name of a backup file may be. File systems allow 255 bytes; some room is left for the extension.
const maxFileName = 200

// writeBackup writes live objects as YAML files into a directory, which it creates if necessary. Only the user can read them. Secrets are
// left out and returned, so that the user learns of it. If one of the files exists already, nothing is written: it would be the backup of
// an earlier run.
func writeBackup(dir string, objects map[object.Ref]map[string]any) (leftOut []object.Ref, err error) {
	files := map[string][]byte{}
	for ref, object := range objects {
		if secret.Kind(ref.Group, ref.Kind) {
			leftOut = append(leftOut, ref)
			continue
		}
		file := filepath.Join(dir, backupName(ref.Key))
		if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
			return nil, hinted{error: fmt.Errorf("backup: %s exists already", file), hint: "give --backup another directory for each run"}
		}
		if files[file], err = yaml.Marshal(object); err != nil {
			return nil, fmt.Errorf("backup of %s: %w", ref.Key, err)
		}
	}
	return leftOut, writeNew(dir, files)
}

// writeNew writes files that do not exist yet: all of them or, if one cannot be written, none.
func writeNew(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	// written lists what has to be removed if a later file fails. A file that existed is not among them.
	var written []string
	for name, content := range files {
		err := writeFile(name, content)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			written = append(written, name)
		}
		if err != nil {
			for _, w := range written {
				_ = os.Remove(w)
			}
			return fmt.Errorf("backup: %w", err)
		}
	}
	return nil
}

// writeFile writes a file that must not exist. It follows no symbolic link, and the content is on the disk when it returns: the first
// write to the cluster comes after it.
func writeFile(name string, content []byte) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

// backupName returns the file name of an object. Names of RBAC objects may contain colons and other characters that file names should
// not; they are escaped, so that two objects never have the same file. A name that is too long is cut and ends in a hash of all of it.
func backupName(key object.Key) string {
	parts := []string{key.Kind, key.Group, key.Namespace, key.Name}
	for i, part := range parts {
		parts[i] = escapeFileName(part)
	}
	name := strings.Join(parts, "_")
	if len(name) > maxFileName {
		sum := sha256.Sum256([]byte(name))
		name = name[:maxFileName-len(sum)] + "_" + hex.EncodeToString(sum[:16])
	}
	return name + ".yaml"
}

// escapeFileName escapes everything but ASCII letters, digits, dots and dashes as a percent sign and two hexadecimal digits.
func escapeFileName(s string) string {
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

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

// maxFileName is how long the name of a file may be on all systems, less some room.
const maxFileName = 200

// writeBackup writes live objects as files of YAML into a directory, which it makes where there is none. Only the user can read
// them. Secrets are left out, and told. Nothing is written where a file exists already.
func writeBackup(dir string, objects map[object.Ref]map[string]any) (leftOut []object.Ref, err error) {
	files := map[string][]byte{}
	for ref, object := range objects {
		if secret.Kind(ref.Group, ref.Kind) {
			leftOut = append(leftOut, ref)
			continue
		}
		file := filepath.Join(dir, backupName(ref.Key))
		if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
			return nil, hinted{error: fmt.Errorf("backup: %s exists already", file), hint: "--backup takes a directory of its own for each run"}
		}
		if files[file], err = yaml.Marshal(object); err != nil {
			return nil, fmt.Errorf("backup of %s: %w", ref.Key, err)
		}
	}
	return leftOut, writeNew(dir, files)
}

// writeNew writes files that were not there, or none.
func writeNew(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	var made []string
	for name, content := range files {
		err := writeFile(name, content)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			made = append(made, name)
		}
		if err != nil {
			for _, m := range made {
				_ = os.Remove(m)
			}
			return fmt.Errorf("backup: %w", err)
		}
	}
	return nil
}

// writeFile writes a file that must not exist, follows no link to another, and has it on the disk when it returns.
func writeFile(name string, content []byte) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

// backupName makes a file name of a key. Names of RBAC objects may have colons and more, which no file name should have; the
// way in which they are written keeps two keys apart. A name too long ends in a hash of all of it.
func backupName(key object.Key) string {
	parts := []string{key.Kind, key.Group, key.Namespace, key.Name}
	for i, part := range parts {
		parts[i] = plainFileName(part)
	}
	name := strings.Join(parts, "_")
	if len(name) > maxFileName {
		sum := sha256.Sum256([]byte(name))
		name = name[:maxFileName-len(sum)] + "_" + hex.EncodeToString(sum[:16])
	}
	return name + ".yaml"
}

// plainFileName writes all but letters, digits, dots and dashes as percent and hexadecimal.
func plainFileName(s string) string {
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

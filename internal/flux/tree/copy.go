package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
)

// Copy copies files and folders of the artifact into a folder, at the same paths.
func (a *Artifact) Copy(to string, names ...string) error {
	return a.walk(names, func(name string, isFolder bool) error {
		target := filepath.Join(to, filepath.FromSlash(name))
		if isFolder {
			return os.MkdirAll(target, 0o700)
		}
		text, err := a.Read(name)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o600)
	})
}

// Digest returns a digest of the names and the contents of files and folders of the artifact.
func (a *Artifact) Digest(names ...string) (string, error) {
	sum := sha256.New()
	err := a.walk(names, func(name string, isFolder bool) error {
		if isFolder {
			return nil
		}
		if !a.Has(name) {
			_, err := fmt.Fprintf(sum, "%q is not there\n", name)
			return err
		}
		text, err := a.Read(name)
		if err == nil {
			_, err = fmt.Fprintf(sum, "%q %x\n", name, sha256.Sum256(text))
		}
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// walk calls do with each of some names, and with all that is below those that are folders.
func (a *Artifact) walk(names []string, do func(name string, isFolder bool) error) error {
	for _, name := range names {
		name = path.Clean(name)
		_, isFolder := a.Kind(name)
		if err := do(name, isFolder); err != nil {
			return err
		}
		for _, below := range a.Names(name) {
			if err := a.walk([]string{path.Join(name, below)}, do); err != nil {
				return err
			}
		}
	}
	return nil
}

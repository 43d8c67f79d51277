package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
)

// Copy copies files and folders of the artifact into a folder, at the same paths.
func (a *Artifact) Copy(to string, names ...string) error {
	for _, name := range names {
		if err := a.copy(to, path.Clean(name)); err != nil {
			return err
		}
	}
	return nil
}

func (a *Artifact) copy(to, name string) error {
	target := filepath.Join(to, filepath.FromSlash(name))
	if _, isFolder := a.Kind(name); isFolder {
		if err := os.MkdirAll(target, 0o700); err != nil {
			return err
		}
		for _, below := range a.Names(name) {
			if err := a.copy(to, path.Join(name, below)); err != nil {
				return err
			}
		}
		return nil
	}
	text, err := a.Read(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	return os.WriteFile(target, text, 0o600)
}

// Digest returns a digest of the names and the contents of files and folders of the artifact.
func (a *Artifact) Digest(names ...string) (string, error) {
	sum := sha256.New()
	for _, name := range names {
		if err := a.digest(sum, path.Clean(name)); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func (a *Artifact) digest(sum io.Writer, name string) error {
	isFile, isFolder := a.Kind(name)
	if isFolder {
		for _, below := range a.Names(name) {
			if err := a.digest(sum, path.Join(name, below)); err != nil {
				return err
			}
		}
		return nil
	}
	if !isFile {
		_, err := fmt.Fprintf(sum, "%q is not there\n", name)
		return err
	}
	text, err := a.Read(name)
	if err == nil {
		_, err = fmt.Fprintf(sum, "%q %x\n", name, sha256.Sum256(text))
	}
	return err
}

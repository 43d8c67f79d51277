package tree

import (
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
	if _, isFolder := a.kind(name); isFolder {
		if err := os.MkdirAll(target, 0o700); err != nil {
			return err
		}
		for below := range a.folders[name] {
			if err := a.copy(to, path.Join(name, below)); err != nil {
				return err
			}
		}
		return nil
	}
	text, err := a.readFile(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	return os.WriteFile(target, text, 0o600)
}

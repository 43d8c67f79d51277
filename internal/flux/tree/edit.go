package tree

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	kustomizetypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/kustomize"
)

// This file is for callers that change a file of a tree.

// ReadFile reads a file below a folder as an artifact has it: a regular file, not behind a link, within the limits. The path has slashes.
func ReadFile(dir, name string) ([]byte, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, fmt.Errorf("%s is outside of the tree", name)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read
	name = path.Clean(name)
	var info fs.FileInfo
	steps := strings.Split(name, "/")
	for i := range steps {
		at := path.Join(steps[:i+1]...)
		if info, err = root.Lstat(at); err != nil {
			return nil, err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("%s is a symbolic link, and %s", at, noLinks)
		}
	}
	if !info.Mode().IsRegular() || info.Size() > kustomize.MaxFile {
		return nil, fmt.Errorf("%s is no regular file of at most %d MiB", name, kustomize.MaxFile>>20)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(file, kustomize.MaxFile))
	if err == nil {
		err = kustomize.CheckAliases(text)
	}
	return text, err
}

// IsGenerated reports whether the file of an object is a kustomization, so that a generator in it made the object.
func (o Object) IsGenerated() bool { return kustomize.IsKustomization(path.Base(o.File)) }

// SharedBy returns two kustomizations below a folder that include the same file, directly or as a part of a folder that both include, or
// nothing. A change of such a file changes what both make. Dir must be the root of the tree, and file relative to it.
func SharedBy(dir, file string) ([]string, error) {
	a, err := OpenArtifact(dir, "GitRepository", "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = a.Close() }() // only read
	users := map[string][]string{}
	for _, folder := range a.Folders() {
		name := a.KustomizationOf(folder)
		if name == "" {
			continue
		}
		text, err := a.Read(name)
		if err == nil {
			err = kustomize.CheckAliases(text)
		}
		if err != nil {
			return nil, err
		}
		var config kustomizetypes.Kustomization
		if yaml.Unmarshal(text, &config) != nil {
			continue // kustomize cannot read it either
		}
		config.FixKustomization() // old kustomizations have bases
		for _, one := range includes(&config) {
			at := path.Join(folder, one)
			users[at] = append(users[at], name)
		}
	}
	at := path.Clean(file)
	for range kustomize.MaxFolderDepth { // a kustomization may include itself
		found := users[at]
		slices.Sort(found)
		if found = slices.Compact(found); len(found) != 1 {
			return found, nil
		}
		at = path.Dir(found[0])
	}
	return nil, nil
}

// includes returns the files and folders that a kustomization includes.
func includes(k *kustomizetypes.Kustomization) []string {
	out := slices.Concat(k.Resources, k.Components)
	for _, g := range k.ConfigMapGenerator {
		for _, source := range g.FileSources {
			_, name := FileSource(source)
			out = append(out, name)
		}
	}
	return out
}

// FileSource returns the key and the file of a source of a generator, which is FILE or KEY=FILE (sigs.k8s.io/kustomize/api v0.21.1
// internal/generators/utils.go ParseFileSource).
func FileSource(source string) (key, file string) {
	if key, file, hasKey := strings.Cut(source, "="); hasKey {
		return key, file
	}
	return path.Base(source), source
}

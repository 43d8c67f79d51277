package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/helmdrift/helmdrift/internal/kustomize"
)

// Artifact is what source-controller would keep of a folder: no symbolic links, and no files that its rules leave out.
type Artifact struct{ *kustomize.Tree }

// noLinks says why an artifact has no links.
const noLinks = "source-controller leaves links out"

// OpenArtifact reads the names in a folder. Kind is that of the source, and ignore its spec.ignore. The caller closes the artifact.
func OpenArtifact(dir, kind, ignore string) (*Artifact, error) {
	t, err := kustomize.Open(dir, noLinks)
	if err != nil {
		return nil, err
	}
	a := &Artifact{t}
	var ofFiles []pattern
	for _, folder := range t.Folders() { // in the order of the original (LoadIgnorePatterns)
		more, err := a.readRules(folder)
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
		ofFiles = append(ofFiles, more...)
	}
	a.dropIgnored(rules(kind, ofFiles, parsePatterns(ignore, nil)))
	return a, nil
}

// readRules reads the .sourceignore of a folder.
func (a *Artifact) readRules(folder string) ([]pattern, error) {
	name := path.Join(folder, IgnoreFile)
	info, err := a.Root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) { // nothing in such a folder can be read
		return nil, nil
	} else if err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s cannot be read: it is a link that leaves the tree, or no file", name)
	}
	text, err := a.ReadRegular(name, info)
	if err != nil {
		return nil, err
	}
	var at []string
	if folder != "." {
		at = strings.Split(folder, "/")
	}
	return parsePatterns(string(text), at), nil
}

// dropIgnored removes the files that rules leave out.
func (a *Artifact) dropIgnored(rules []pattern) {
	for _, folder := range a.Folders() {
		for _, base := range a.Names(folder) {
			name := path.Join(folder, base)
			if _, isFolder := a.Kind(name); !isFolder && excludes(rules, strings.Split(name, "/")) {
				a.Drop(name, "is not in the artifact: a rule of .sourceignore, of spec.ignore or of source-controller leaves it out")
			}
		}
	}
}

// files is the file system that kustomize sees in one build: an artifact, and the kustomization.yaml that Flux writes into it.
type files struct {
	*kustomize.Files
	// formats has the formats of the files that Flux decrypts, and decrypter decrypts them. It is nil if nobody does.
	decrypter *decrypter
	formats   map[string]string
}

// files returns the files of an artifact for one build.
func (b *builder) files(a *Artifact, by *kustomization) *files {
	f := &files{Files: kustomize.NewFiles(a.Tree, &b.bases, noLinks, "Flux's kustomize runs no helm"), formats: map[string]string{}}
	if by.isDecrypted() {
		f.decrypter = b.decrypter
	}
	f.Decrypt = f.open
	return f
}

// CleanPath returns a path in a source without what leads out of the source.
func CleanPath(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

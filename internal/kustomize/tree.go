package kustomize

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/links"
)

// Tree is a folder with all files and folders below it, without folders .git.
type Tree struct {
	Root *os.Root
	// Dir is its absolute path.
	Dir string
	// Changed has files with another content than on the disk, by their slash-separated paths.
	Changed map[string][]byte
	// folders are the files and folders in each folder, by slash-separated paths, "." for the root. The value says whether it is a folder.
	folders map[string]map[string]bool
	// links are the symbolic links that are followed, by slash-separated paths. The value is what they lead to, a path without links.
	links map[string]string
	// absent says why something is in the folder and not in the tree.
	absent map[string]string
	bytes  int // read so far
}

// Open reads the names in a folder. NoLinks says in messages why the tree has no symbolic links. If it is empty, the tree has those that
// stay in it. The caller closes the tree.
func Open(dir, noLinks string) (*Tree, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // the user may name a link; the tree has none
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	t := &Tree{Root: root, Dir: dir, folders: map[string]map[string]bool{}, links: map[string]string{}, absent: map[string]string{}}
	if err := t.list(noLinks); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return t, nil
}

// Close closes the folder.
func (t *Tree) Close() error { return t.Root.Close() }

// Has reports whether the tree has a file or a folder. The path is relative to the root and has slashes.
func (t *Tree) Has(name string) bool {
	isFile, isFolder := t.Kind(path.Clean(name))
	return isFile || isFolder
}

// list reads the names of all files and folders.
func (t *Tree) list(noLinks string) error {
	count := 0
	var mayLead links.Tree
	if noLinks == "" {
		var err error
		if mayLead, err = links.TreeOf(t.Dir); err != nil {
			return err
		}
	}
	return fs.WalkDir(t.Root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if count++; count > maxEntries {
			return fmt.Errorf("the tree has more than %d files and folders", maxEntries)
		}
		folder, base := path.Split(name)
		folder = path.Clean(folder)
		switch {
		case err != nil && name == ".":
			return err
		case err != nil: // only a build that needs the folder fails
			t.absent[name] = "cannot be read"
		case base == ".git":
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case strings.Count(name, "/") >= MaxFolderDepth:
			return fmt.Errorf("the tree has more than %d folders inside each other, at %s", MaxFolderDepth, name)
		case entry.IsDir():
			t.folders[name] = map[string]bool{}
			if name != "." {
				t.folders[folder][base] = true
			}
		case entry.Type().IsRegular():
			t.folders[folder][base] = false
		case entry.Type()&fs.ModeSymlink != 0 && noLinks == "":
			t.addLink(name, mayLead)
		case entry.Type()&fs.ModeSymlink != 0:
			t.absent[name] = "is a symbolic link, and " + noLinks
		default:
			t.absent[name] = "is no regular file"
		}
		return nil
	})
}

// addLink adds a symbolic link. Kustomize looks for the files of a linked kustomization in the folder that has the link.
func (t *Tree) addLink(name string, mayLead links.Tree) {
	real, err := filepath.EvalSymlinks(filepath.Join(t.Dir, filepath.FromSlash(name)))
	info, otherErr := os.Stat(real)
	switch target, isInside := t.inside(real); {
	case err != nil || otherErr != nil:
		t.absent[name] = "is a symbolic link that leads to nothing"
	case !isInside || mayLead.Refuses(real) != "":
		t.absent[name] = "is a symbolic link that leads out of the tree, or into a hidden folder of it, and helmdrift does not follow it"
	case IsKustomization(path.Base(name)):
		t.absent[name] = "is a symbolic link, and helmdrift follows none in the place of a kustomization"
	default:
		t.links[name] = target
		t.folders[path.Dir(name)][path.Base(name)] = info.IsDir()
	}
}

// resolved returns a clean path without links.
func (t *Tree) resolved(name string) string {
	if len(t.links) == 0 {
		return name
	}
	at := "."
	for step := range strings.SplitSeq(name, "/") {
		at = path.Join(at, step)
		if target, isLink := t.links[at]; isLink {
			at = target
		}
	}
	return at
}

// Folders returns the paths of all folders in the order of a walk.
func (t *Tree) Folders() []string {
	// The separator is smaller than every letter of a name, so that what is below a folder comes next to it.
	out := make([]string, 0, len(t.folders))
	for name := range t.folders {
		out = append(out, strings.ReplaceAll(name, "/", "\x00"))
	}
	slices.Sort(out)
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], "\x00", "/")
	}
	return out
}

// Drop removes a file from the tree. Why completes a message that begins with its name.
func (t *Tree) Drop(name, why string) {
	delete(t.folders[path.Dir(name)], path.Base(name))
	t.absent[name] = why
}

// IsAbsent reports whether something is in the folder that is not in the tree, at a path or above it.
func (t *Tree) IsAbsent(name string) bool { return t.whyAbsent(name) != "" }

// Kind says whether a clean path is a file or a folder of the tree.
func (t *Tree) Kind(name string) (isFile, isFolder bool) {
	name = t.resolved(name)
	if _, isFolder = t.folders[name]; isFolder {
		return false, true
	}
	entry, found := t.folders[path.Dir(name)][path.Base(name)]
	return found && !entry, false
}

// Why says why the tree has no such path.
func (t *Tree) Why(name string) error {
	if why := t.whyAbsent(name); why != "" {
		return errors.New(why)
	}
	return fmt.Errorf("%s does not exist", name)
}

// whyAbsent says what is in the folder and not in the tree at a path or above it, or returns "".
func (t *Tree) whyAbsent(name string) string {
	for at := t.resolved(name); at != "." && at != "/"; at = path.Dir(at) {
		if reason := t.absent[at]; reason != "" {
			return at + " " + reason
		}
	}
	return ""
}

// Names returns the sorted names in a folder.
func (t *Tree) Names(folder string) []string {
	return slices.Sorted(maps.Keys(t.folders[t.resolved(folder)]))
}

// Read reads a file of the tree.
func (t *Tree) Read(name string) ([]byte, error) {
	name = t.resolved(name)
	info, err := t.Root.Lstat(name)
	if err != nil {
		return nil, err
	}
	return t.ReadRegular(name, info)
}

// ReadRegular reads a file within the limits. Info is about it.
func (t *Tree) ReadRegular(name string, info fs.FileInfo) ([]byte, error) {
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", name)
	case info.Size() > MaxFile:
		return nil, fmt.Errorf("%s has %d MiB, and helmdrift reads %d", name, info.Size()>>20, MaxFile>>20)
	}
	if text, isChanged := t.Changed[name]; isChanged {
		return text, nil
	}
	file, err := t.Root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, MaxFile))
	if t.bytes += len(text); t.bytes > maxBytes {
		return nil, fmt.Errorf("the tree has more than %d MiB to read", maxBytes>>20)
	}
	return text, err
}

// Relative returns an absolute path as a path of the tree, without links.
func (t *Tree) Relative(name string) (string, error) {
	inside, isInside := t.inside(name)
	if !isInside {
		return "", fmt.Errorf("%s is outside of the tree %s", name, t.Dir)
	}
	return t.resolved(inside), nil
}

// inside returns an absolute path relative to the root, and whether it is below it.
func (t *Tree) inside(name string) (string, bool) {
	inside, err := filepath.Rel(t.Dir, name)
	return filepath.ToSlash(inside), err == nil && filepath.IsLocal(inside)
}

// KustomizationOf returns the path of the kustomization file in a folder, or "".
func (t *Tree) KustomizationOf(folder string) string { return kustomizationOf(t.Kind, folder) }

// Package links says where symbolic links may lead: not out of the Git working tree that they are in, and not to the devices of the system.
package links

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// Tree says where symbolic links of a folder may lead: to the folder itself, and to the Git working tree that it is in. Whoever can
// propose a change to that tree can add a link to it, and so read with the rights of the user who follows the link.
type Tree struct {
	// Folder is the folder, and root is its working tree, or empty if it is in none. Both are absolute paths without links.
	Folder, root string
}

// TreeOf returns the tree of a folder.
func TreeOf(folder string) (Tree, error) {
	folder, err := filepath.EvalSymlinks(folder)
	if err == nil {
		folder, err = filepath.Abs(folder)
	}
	if err != nil {
		return Tree{}, err
	}
	root, _ := Root(folder) // a folder in which nobody can look for .git counts as one without it
	return Tree{folder, root}, nil
}

// Root returns the root of the Git working tree that a folder is in, or "" if it is in none. The folder is an absolute path without links.
// The error is that of the first folder in which Root could not look for .git; it goes on above.
func Root(folder string) (root string, err error) {
	for dir := folder; ; dir = filepath.Dir(dir) {
		_, failed := os.Lstat(filepath.Join(dir, ".git")) // in a second working tree and in a submodule it is a file
		switch {
		case failed == nil:
			return dir, err
		case !errors.Is(failed, fs.ErrNotExist) && err == nil:
			err = failed
		}
		if dir == filepath.Dir(dir) {
			return "", err
		}
	}
}

// Refuses returns why a link must not lead to a target, or "" if it may. The target is a path without links.
func (t Tree) Refuses(target string) string {
	switch {
	case IsSystem(target):
		return "leads to " + target + ", which is no file on a disk"
	case IsInside(target, t.Folder) && (t.root == "" || !isHidden(t.Folder, target)):
		return ""
	case t.root == "":
		return "leads to " + target + ", which is outside of " + t.Folder
	case !IsInside(target, t.root):
		return "leads to " + target + ", which is outside of the Git working tree " + t.root
	case isHidden(t.root, target):
		return "leads to " + target + ", which is in a hidden folder"
	}
	return ""
}

// IsSystem reports whether a path without links is below /proc or another folder with the state and the devices of the system.
func IsSystem(path string) bool {
	return slices.ContainsFunc([]string{"/proc", "/sys", "/dev"}, func(dir string) bool { return IsInside(path, dir) })
}

// isHidden reports whether the path between a folder and a target has a folder whose name begins with a dot.
func isHidden(from, target string) bool {
	rest, err := filepath.Rel(from, target)
	if err != nil {
		return true
	}
	names := strings.Split(rest, string(filepath.Separator))
	if info, err := os.Stat(target); err != nil || !info.IsDir() {
		names = names[:len(names)-1] // the target itself is no folder
	}
	return slices.ContainsFunc(names, func(name string) bool { return name != "." && strings.HasPrefix(name, ".") })
}

// IsInside reports whether a path is a folder or below it.
func IsInside(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}

// Check returns an error that names the first forbidden symbolic link on the way to a file: one in a Git working tree that leads out
// of it. If no file has the name, for example because it is a URL, there is no error.
func Check(name string) error { return check(name, false) }

// CheckAllowed is Check for a user who can allow links that lead out of the tree. If allowed is set, only a link to what IsSystem reports
// is an error. Otherwise an error that the flag avoids has it as its hint.
func CheckAllowed(name string, allowed bool) error {
	err := check(name, allowed)
	if err != nil && check(name, true) == nil {
		return hint.New(err, "--allow-outside-links follows it, if you trust who wrote the link with your files")
	}
	return err
}

func check(name string, allowed bool) error {
	here := filepath.VolumeName(name) + string(filepath.Separator)
	if !filepath.IsAbs(name) {
		dir, err := os.Getwd()
		if err == nil {
			here, err = filepath.EvalSymlinks(dir)
		}
		if err != nil {
			return err
		}
	}
	rest := strings.TrimPrefix(filepath.FromSlash(name), filepath.VolumeName(name))
	for step := range strings.SplitSeq(rest, string(filepath.Separator)) {
		if step == ".." {
			here = filepath.Dir(here)
			continue
		}
		path := filepath.Join(here, step)
		info, err := os.Lstat(path)
		if err != nil {
			return nil // whoever reads the file will report it
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			here = path
			continue
		}
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil
		}
		tree, err := TreeOf(here)
		if err != nil {
			return err
		}
		if reason := tree.Refuses(target); tree.root != "" && reason != "" && (!allowed || IsSystem(target)) {
			return fmt.Errorf("the symbolic link %s %s", path, reason)
		}
		here = target
	}
	return nil
}

// Package worktree finds the Git working tree that a folder is in, and says which repository it is a working tree of. It reads files alone
// and starts no program, because the tree may be that of a stranger.
package worktree

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/links"
)

// Find returns the root of the working tree that a folder is in, which is the folder itself if there is none, and the addresses of the
// tree's remotes.
func Find(dir string) (root string, remotes []string, err error) {
	start, err := filepath.Abs(dir)
	if err == nil {
		start, err = filepath.EvalSymlinks(start)
	}
	if err != nil {
		return "", nil, err
	}
	if info, err := os.Stat(start); err != nil || !info.IsDir() {
		return "", nil, fmt.Errorf("%s is not a folder", dir)
	}
	root, err = links.Root(start)
	switch {
	case err != nil:
		return "", nil, err
	case root == "":
		return start, nil, nil
	}
	remotes, err = readRemotes(root)
	return root, remotes, err
}

// maxConfig is the greatest length in bytes of the file config of a repository, and of a file .git.
const maxConfig = 1 << 20

// readRemotes reads the file config of the repository of a working tree.
func readRemotes(root string) ([]string, error) {
	git, err := folderOf(root)
	if err != nil {
		return nil, err
	}
	text, err := files.Read(filepath.Join(git, "config"), maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return parseRemotes(text), err
}

// folderOf returns the folder of the repository of a working tree. In a second working tree and in a submodule, .git is a file that names
// the folder.
func folderOf(root string) (string, error) {
	git := filepath.Join(root, ".git")
	info, err := os.Lstat(git)
	if err != nil || !info.Mode().IsRegular() {
		return git, err
	}
	text, err := files.Read(git, maxConfig)
	if err != nil {
		return "", err
	}
	folder, _ := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(filepath.Dir(git), folder)
	}
	if above := filepath.Dir(folder); filepath.Base(above) == "worktrees" {
		folder = filepath.Dir(above) // all working trees share one config
	}
	return folder, nil
}

// hasTag reports whether the repository of the working tree with this root has a tag of this name.
func hasTag(root, name string) bool {
	git, err := folderOf(root)
	if err != nil || !filepath.IsLocal(filepath.FromSlash(name)) {
		return false
	}
	if _, err := os.Lstat(filepath.Join(git, "refs", "tags", filepath.FromSlash(name))); err == nil {
		return true
	}
	packed, err := files.Open(filepath.Join(git, "packed-refs"))
	if err != nil {
		return false
	}
	defer packed.Close()
	for lines := bufio.NewScanner(packed); lines.Scan(); {
		if _, ref, _ := strings.Cut(lines.Text(), " "); ref == "refs/tags/"+name {
			return true
		}
	}
	return false
}

// section and setting match lines of the file config.
var (
	section = regexp.MustCompile(`^\s*\[\s*([\w.-]+)`)
	setting = regexp.MustCompile(`(?i)^\s*url\s*=\s*"?([^"#;]+)`)
)

// parseRemotes returns the addresses in the sections [remote "NAME"].
func parseRemotes(config []byte) []string {
	var out []string
	isRemote := false
	for lines := bufio.NewScanner(bytes.NewReader(config)); lines.Scan(); {
		line := lines.Text()
		if found := section.FindStringSubmatch(line); found != nil {
			isRemote = strings.EqualFold(found[1], "remote")
		} else if found := setting.FindStringSubmatch(line); found != nil && isRemote {
			out = append(out, strings.TrimSpace(found[1]))
		}
	}
	return out
}

// scpForm matches an address like git@host:path.
var scpForm = regexp.MustCompile(`^(?:[^@/]+@)?([^:/@]+):([^/].*)$`)

// Repository returns the repository that an address names, as host/path: without the scheme, the user, the port and ".git".
func Repository(address string) string {
	host, name := "", address
	if u, err := url.Parse(address); err == nil && strings.Contains(address, "://") {
		host, name = u.Hostname(), u.Path
	} else if found := scpForm.FindStringSubmatch(address); found != nil && net.ParseIP(address) == nil {
		host, name = found[1], found[2]
	}
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	return strings.ToLower(host) + "/" + strings.TrimSuffix(name, ".git")
}

// HasRemote reports whether an address names the repository of one of the remotes.
func HasRemote(remotes []string, address string) bool {
	return address != "" && slices.ContainsFunc(remotes, func(remote string) bool { return Repository(remote) == Repository(address) })
}

// Tree is a working tree: its root without links, and the addresses of its remotes.
type Tree struct {
	Root    string
	Remotes []string
}

// fixed matches revisions that name no branch: commits, and ranges of versions.
var fixed = regexp.MustCompile(`^([0-9a-f]{7,64}|[v^~<>=! ]*\d+([.]([\dxX*].*)?)?|.*[*^~<>=: ].*)$`)

// Has reports whether the tree has what a revision of a repository names: the repository is that of a remote, and the revision is empty,
// HEAD or a branch. Which branch the tree is merged into is not known, so it stands for each.
func (t Tree) Has(address, revision string) bool {
	if !HasRemote(t.Remotes, address) {
		return false
	}
	branch := strings.TrimPrefix(revision, "refs/heads/")
	return branch == "" || branch == "HEAD" || !fixed.MatchString(branch) && !strings.HasPrefix(branch, "refs/") && !hasTag(t.Root, branch)
}

// Names reports whether a text of YAML or JSON below a folder has a word. Files of the repository itself do not count, and links are not
// followed.
func Names(dir, word string) (bool, error) {
	const most = 16 << 20
	found := false
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case !entry.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)):
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Size() > most {
			return fmt.Errorf("%s is too large", name)
		}
		text, err := os.ReadFile(name)
		if found = bytes.Contains(text, []byte(word)); found && err == nil {
			return fs.SkipAll
		}
		return err
	})
	return found, err
}

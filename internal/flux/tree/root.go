package tree

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// FindRoot returns the root of the working tree that a folder is in, which is the folder itself if there is none, and the addresses of the
// tree's remotes.
func FindRoot(dir string) (root string, remotes []string, err error) {
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
	for at := start; ; at = filepath.Dir(at) {
		info, err := os.Lstat(filepath.Join(at, ".git"))
		switch {
		case err == nil:
			remotes, err = readRemotes(filepath.Join(at, ".git"), info)
			return at, remotes, err
		case !errors.Is(err, fs.ErrNotExist):
			return "", nil, err
		case at == filepath.Dir(at):
			return start, nil, nil
		}
	}
}

// readRemotes reads the file config of a repository. In a second working tree and in a submodule, .git is a file that names the folder.
func readRemotes(git string, info fs.FileInfo) ([]string, error) {
	if info.Mode().IsRegular() {
		text, err := readSmall(git)
		if err != nil {
			return nil, err
		}
		folder, _ := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(filepath.Dir(git), folder)
		}
		if above := filepath.Dir(folder); filepath.Base(above) == "worktrees" {
			folder = filepath.Dir(above) // all working trees share one config
		}
		git = folder
	}
	text, err := readSmall(filepath.Join(git, "config"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return parseRemotes(text), err
}

// readSmall reads a file of at most 1 MiB.
func readSmall(name string) ([]byte, error) {
	if info, err := os.Stat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", name)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, 1<<20))
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

// repositoryOf returns the repository that an address names, as host/path: without the scheme, the user, the port and ".git".
func repositoryOf(address string) string {
	host, name := "", address
	if u, err := url.Parse(address); err == nil && strings.Contains(address, "://") {
		host, name = u.Hostname(), u.Path
	} else if found := scpForm.FindStringSubmatch(address); found != nil && net.ParseIP(address) == nil {
		host, name = found[1], found[2]
	}
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	return strings.ToLower(host) + "/" + strings.TrimSuffix(name, ".git")
}

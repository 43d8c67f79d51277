package kustomize

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// This file has bases of kustomize that are not in the tree, if the caller fetches them. Kustomize itself never sees their addresses: they
// become folders beside the tree.

// Base is a base that is not in the tree.
type Base struct {
	// URL is the address of a repository of Git, or of a file if IsFile is set. Its scheme is https.
	URL    string
	IsFile bool
	// Ref is the branch, the tag or the commit, or empty.
	Ref string
}

// String returns the address.
func (b Base) String() string {
	if b.Ref != "" {
		return b.URL + "?ref=" + b.Ref
	}
	return b.URL
}

// baseOf returns the base that a text names, and the path inside it (sigs.k8s.io/kustomize/api v0.21.1 internal/git/repospec.go
// NewRepoSpecFromURL, internal/loader/fileloader.go IsRemoteFile).
func baseOf(text string) (base Base, inside string, err error) {
	address := strings.TrimPrefix(text, "git::")
	if strings.HasPrefix(strings.ToLower(address), "github.com/") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return Base{}, "", errors.New("helmdrift fetches bases from addresses of https only, without a user")
	}
	query := u.Query()
	if ref := query.Get("ref"); ref != "" {
		base.Ref = ref
	} else {
		base.Ref = query.Get("version")
	}
	u.RawQuery, u.Fragment = "", ""
	repository, inside, isCut := strings.Cut(u.Path, "//")
	if extension := path.Ext(repository); !isCut && base.Ref == "" && slices.Contains([]string{".yaml", ".yml", ".json"}, extension) {
		return Base{URL: u.String(), IsFile: true}, path.Base(repository), nil
	}
	if !isCut {
		steps := strings.Split(strings.Trim(repository, "/"), "/")
		n := slices.IndexFunc(steps, func(step string) bool { return strings.HasSuffix(step, ".git") }) + 1
		if n == 0 {
			n = min(2, len(steps))
		}
		repository, inside = "/"+strings.Join(steps[:n], "/"), strings.Join(steps[n:], "/")
	}
	u.Path, u.RawPath = repository, ""
	base.URL = u.String()
	if inside = path.Clean("/" + inside)[1:]; inside == "" {
		inside = "."
	}
	return base, inside, nil
}

// mount is a base that was fetched, at a path of the tree.
type mount struct {
	at   string
	base Base
	*Tree
}

// treeAt returns the tree that has a path, and the path in it.
func (f *Files) treeAt(name string) (*Tree, string) {
	for _, m := range slices.Backward(f.bases.mounts) { // one may be inside an earlier one
		if name == m.at {
			return m.Tree, "."
		}
		if inside, isBelow := strings.CutPrefix(name, m.at+"/"); isBelow {
			return m.Tree, inside
		}
	}
	return f.Tree, name
}

// Kind says whether a clean path is a file or a folder.
func (f *Files) Kind(name string) (isFile, isFolder bool) {
	t, inside := f.treeAt(name)
	return t.Kind(inside)
}

// Read reads a file.
func (f *Files) Read(name string) ([]byte, error) {
	t, inside := f.treeAt(name)
	return t.Read(inside)
}

// Names returns the sorted names in a folder.
func (f *Files) Names(name string) []string {
	t, inside := f.treeAt(name)
	return t.Names(inside)
}

// Why says why there is no such path.
func (f *Files) Why(name string) error {
	t, inside := f.treeAt(name)
	return t.Why(inside)
}

// KustomizationOf returns the path of the kustomization file in a folder, or "".
func (f *Files) KustomizationOf(folder string) string { return kustomizationOf(f.Kind, folder) }

// Bases are those of one tree.
type Bases struct {
	// Fetch fetches a base and returns the folder that has it. It is nil if nobody fetches.
	Fetch func(Base) (string, error)
	// links is that of the tree.
	links  string
	mounts []mount
}

// maxBases is how many bases are fetched for a tree.
const maxBases = 100

// mount fetches a base unless it is there, and returns its path in a folder.
func (b *Bases) mount(base Base, folder string) (string, error) {
	if i := slices.IndexFunc(b.mounts, func(m mount) bool { return m.base == base && path.Dir(m.at) == folder }); i >= 0 {
		return b.mounts[i].at, nil
	}
	if len(b.mounts) == maxBases {
		return "", fmt.Errorf("the tree has more than %d remote bases", maxBases)
	}
	dir, err := b.Fetch(base)
	if err != nil {
		return "", fmt.Errorf("%s: %w", base, err)
	}
	t, err := Open(dir, b.links)
	if err != nil {
		return "", err
	}
	at := path.Join(folder, ".helmdrift-base-"+strconv.Itoa(len(b.mounts)))
	b.mounts = append(b.mounts, mount{at, base, t})
	return at, nil
}

// Close closes the folders.
func (b *Bases) Close() {
	for _, m := range b.mounts {
		_ = m.Close() // only read
	}
}

// withBases fetches the bases that a kustomization of a folder names, and returns it with paths instead of addresses. Only resources,
// components and the old field bases are fetched: check refuses every other address.
func (f *Files) withBases(folder string, text []byte) ([]byte, error) {
	if f.bases.Fetch == nil {
		return text, nil
	}
	fields := map[string]any{}
	if err := yaml.Unmarshal(text, &fields); err != nil {
		return text, nil //nolint:nilerr // kustomize says what is wrong
	}
	changed := false
	for _, field := range []string{"resources", "components", "bases"} {
		items, _ := fields[field].([]any)
		for i, item := range items {
			address, isText := item.(string)
			if !isText || !IsRemote(address) {
				continue
			}
			base, inside, err := baseOf(address)
			if err != nil {
				return nil, fmt.Errorf("it needs %q: %w", address, err)
			}
			in := "."
			if base.IsFile && f.RootOnly {
				in = folder // where kustomize may read it
			}
			at, err := f.bases.mount(base, in)
			if err != nil {
				return nil, err
			}
			local, err := filepath.Rel(filepath.FromSlash(folder), filepath.FromSlash(path.Join(at, inside)))
			if err != nil {
				return nil, err
			}
			items[i], changed = filepath.ToSlash(local), true
		}
	}
	if !changed {
		return text, nil
	}
	return yaml.Marshal(fields)
}

// original returns a path with the address of the base that it is in.
func (f *Files) original(name string) string {
	for _, m := range slices.Backward(f.bases.mounts) {
		if inside, isBelow := strings.CutPrefix(name, m.at+"/"); isBelow {
			return m.base.String() + " " + inside
		}
	}
	return name
}

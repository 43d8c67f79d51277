package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// isPattern reports whether Argo CD takes a path for a pattern (argo-cd v3.6.1 reposerver/repository/repository.go isGlobPath).
func isPattern(file string) bool { return strings.ContainsAny(file, "*?[") }

// These bounds are on foreign patterns: each brace multiplies the work, and a link may lead to a folder above it.
const (
	maxBraces  = 4
	maxPattern = 256
	maxLooks   = 20_000
)

// matching returns the files below a root that match a pattern, in the order in which the library of Argo CD finds them (repository.go
// getResolvedValueFiles, doublestar.FilepathGlob). The pattern is a path below the root. A link that leads out of the root is not followed.
func matching(root, pattern string) ([]string, error) {
	if len(pattern) > maxPattern || strings.Count(pattern, "{") > maxBraces {
		return nil, fmt.Errorf("a pattern with more than %d characters or %d braces is not looked up", maxPattern, maxBraces)
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	base, pattern := doublestar.SplitPattern(pattern)
	files, err := fs.Sub(r.FS(), base)
	if err != nil {
		return nil, err
	}
	looks := &bounded{files: files}
	found, err := doublestar.Glob(looks, pattern)
	if looks.n > maxLooks {
		return nil, fmt.Errorf("it takes more than %d looks into folders", maxLooks)
	}
	if err != nil {
		return nil, err
	}
	for i, name := range found {
		found[i] = filepath.Join(root, filepath.FromSlash(base), filepath.FromSlash(name))
	}
	return found, nil
}

// bounded counts the looks into a file system, and lets it answer so many.
type bounded struct {
	files fs.FS
	n     int
}

// errTooManyLooks ends a search. The library takes it for a folder that cannot be read.
var errTooManyLooks = errors.New("too many looks")

// Open implements fs.FS.
func (b *bounded) Open(name string) (fs.File, error) { return look(b, b.files.Open, name) }

// Stat implements fs.StatFS.
func (b *bounded) Stat(name string) (fs.FileInfo, error) {
	return look(b, func(name string) (fs.FileInfo, error) { return fs.Stat(b.files, name) }, name)
}

// ReadDir implements fs.ReadDirFS.
func (b *bounded) ReadDir(name string) ([]fs.DirEntry, error) {
	return look(b, func(name string) ([]fs.DirEntry, error) { return fs.ReadDir(b.files, name) }, name)
}

// look counts one look.
func look[T any](b *bounded, at func(string) (T, error), name string) (T, error) {
	if b.n++; b.n > maxLooks {
		var none T
		return none, errTooManyLooks
	}
	return at(name)
}

package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/tempdir"
)

// atOnce is how many objects are fetched at once.
const atOnce = 8

// Has reports whether there is an object at a path or below it.
func (l *Listing) Has(name string) bool {
	for key := range l.objects {
		if isBelow(tree.CleanPath(key), []string{name}) {
			return true
		}
	}
	return false
}

// isBelow reports whether a path is one of some paths or below one.
func isBelow(at string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		name = tree.CleanPath(name)
		return name == "" || at == name || strings.HasPrefix(at, name+"/")
	})
}

// Fetch fetches the objects at some paths and below them, once, and returns a folder that has them at their paths, and the .sourceignore of
// the bucket. A path without an object is left out (fluxcd/source-controller v1.9.3 internal/controller/bucket_controller.go
// fetchIndexFiles).
func (l *Listing) Fetch(ctx context.Context, names ...string) (dir string, err error) {
	return l.fetched.Get(strings.Join(names, "\x00"), func() (string, error) {
		const doing = "fetching the objects"
		ctx, cancel := l.within(ctx, doing)
		defer cancel()
		wanted, err := l.below(names)
		if err != nil {
			return "", err
		}
		dir, err := tempdir.New()
		if err != nil {
			return "", err
		}
		l.mu.Lock()
		l.dirs = append(l.dirs, dir)
		l.mu.Unlock()
		return dir, l.fetchAll(ctx, dir, wanted)
	})
}

// Close removes what was fetched.
func (l *Listing) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, dir := range l.dirs {
		_ = os.RemoveAll(dir)
	}
	l.dirs = nil
}

// below returns the keys of the objects at some paths and below them, by the paths that they get.
func (l *Listing) below(names []string) (map[string]string, error) {
	wanted, size := map[string]string{}, int64(0)
	for _, key := range slices.Sorted(maps.Keys(l.objects)) {
		at := tree.CleanPath(key)
		if !isBelow(at, names) {
			continue
		}
		if other, isThere := wanted[at]; isThere || at == "" {
			return nil, fmt.Errorf("the objects %q and %q have the same path: which of them source-controller keeps is not known",
				other, key)
		}
		wanted[at] = key
		if size += max(l.objects[key].size, 0); size > l.most {
			return nil, fmt.Errorf("the objects of the chart have more than %d MiB", l.most>>20)
		}
	}
	return wanted, nil
}

// fetchAll fetches objects into a folder, by their paths.
func (l *Listing) fetchAll(ctx context.Context, dir string, wanted map[string]string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if l.ignore != nil {
		if err := root.WriteFile(tree.IgnoreFile, l.ignore, files.Private); err != nil {
			return err
		}
	}
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for at, key := range wanted {
		group.Go(func() error {
			if err := l.fetch(inner, root, filepath.FromSlash(at), key); err != nil {
				return explain(ctx, fmt.Sprintf("object %q", key), err)
			}
			return nil
		})
	}
	return group.Wait()
}

// fetch fetches an object into a file. It must be the one of the list.
func (l *Listing) fetch(ctx context.Context, root *os.Root, at, key string) error {
	if err := root.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return errNoPath
	}
	file, err := root.OpenFile(at, os.O_CREATE|os.O_WRONLY|os.O_EXCL, files.Private)
	if err != nil {
		return errNoPath
	}
	response, err := l.get(ctx, key, nil)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	defer response.Body.Close()
	listed := l.objects[key]
	size, err := io.Copy(file, io.LimitReader(response.Body, listed.size+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if size != listed.size || trim(response.Header.Get("ETag")) != listed.etag {
		return errors.New("it changed while the bucket was read; try again")
	}
	return nil
}

// errNoPath is the error of an object whose path is a folder or goes through a file, or that this system cannot name.
var errNoPath = errors.New("it cannot be stored as a file: its name is that of a folder, leads through another object, " +
	"or is not allowed on this machine")

package flux

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file leaves out the HelmReleases that a change does not touch: those whose inputs are the same in an earlier tree.

// Earlier returns the order for the same folder in the files of an earlier commit, which are a tar archive. Done removes the files; it is
// never nil.
func Earlier(o tree.Order, archive []byte) (order tree.Order, done func(), err error) {
	dir, err := filepath.Abs(o.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		dir, err = filepath.Rel(o.Root, dir)
	}
	if err != nil {
		return o, func() {}, err
	}
	root, done, err := unpacked(archive)
	if err != nil {
		return o, done, err
	}
	if o.Root, err = filepath.EvalSymlinks(root); err != nil {
		return o, done, err
	}
	o.Dir = filepath.Join(o.Root, dir)
	return o, done, os.MkdirAll(o.Dir, 0o700) // the change may add the folder
}

// unpacked returns a new folder with the files of a tar archive. Done removes it; it is never nil.
func unpacked(archive []byte) (dir string, done func(), err error) {
	if dir, err = os.MkdirTemp("", "helmdrift-"); err != nil {
		return "", func() {}, err
	}
	return dir, func() { _ = os.RemoveAll(dir) }, unpack(archive, dir)
}

// unpack writes the regular files of a tar archive below a folder. Source-controller leaves out everything else.
func unpack(archive []byte, to string) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading the files of the commit: %w", err)
		case header.Typeflag != tar.TypeReg:
			continue
		}
		name := filepath.FromSlash(path.Clean(header.Name))
		if !filepath.IsLocal(name) {
			return fmt.Errorf("the commit has the file %s outside of its folder", header.Name)
		}
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		file, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, r)
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
}

// inputs returns a digest of everything that the tree says about a HelmRelease: its spec, the objects that its values come from, its
// source, and the files of its chart.
func (t *Tree) inputs(ctx context.Context, ref object.Ref) (string, error) {
	h := newHelmRelease(t.over.objects[ref].Object)
	if h.fault != nil {
		return "", h.fault
	}
	sum := sha256.New()
	add := func(v any) error { return json.NewEncoder(sum).Encode(v) }
	err := add(t.over.objects[ref].Object["spec"])
	for _, from := range h.Spec.ValuesFrom {
		if key := from.key(h.Metadata.Namespace); t.over.tree[key] {
			err = errors.Join(err, add(t.over.objects[key].Object["data"]))
		}
	}
	if h.Spec.Chart == nil || err != nil {
		return fmt.Sprintf("%x", sum.Sum(nil)), err
	}
	wanted := h.Spec.Chart.Spec
	namespace := wanted.SourceRef.Namespace
	if namespace == "" {
		namespace = h.Metadata.Namespace
	}
	of, err := readSource(ctx, t.over, wanted.SourceRef.Kind, namespace, wanted.SourceRef.Name)
	if err != nil {
		return "", err
	}
	of.kind = wanted.SourceRef.Kind
	if err := add(of.Spec); err != nil || !t.has(of) {
		return fmt.Sprintf("%x", sum.Sum(nil)), err
	}
	chart := t.artifact(of)
	artifact, err := tree.OpenArtifact(chart.Dir, chart.Ignore)
	if err != nil {
		return "", err
	}
	defer func() { _ = artifact.Close() }()
	names := []string{clean(wanted.Chart)}
	for _, file := range wanted.ValuesFiles {
		names = append(names, clean(file))
	}
	files, err := artifact.Digest(names...)
	return fmt.Sprintf("%x %s", sum.Sum(nil), strings.TrimSpace(files)), err
}

// isChanged reports whether a HelmRelease of the tree has other inputs than in an earlier one. What cannot be told counts as changed.
func (t *Tree) isChanged(ctx context.Context, before *Tree, ref object.Ref) bool {
	if !before.over.tree[ref] {
		return true
	}
	now, err := t.inputs(ctx, ref)
	then, errThen := before.inputs(ctx, ref)
	return err != nil || errThen != nil || now != then
}

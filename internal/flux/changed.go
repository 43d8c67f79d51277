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

	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
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

// inputsOf returns a digest of everything that the tree says about a HelmRelease: its spec, the objects that its values come from, its
// source, and the files of its chart.
func inputsOf(ctx context.Context, t *applied.Tree, ref object.Ref) (string, error) {
	o := t.Over.Made(ref)
	h := api.HelmReleaseOf(o)
	if h.Fault != nil {
		return "", h.Fault
	}
	sum := sha256.New()
	add := func(v any) error { return json.NewEncoder(sum).Encode(v) }
	err := add(o["spec"])
	for _, from := range h.Spec.ValuesFrom {
		if made := t.Over.Made(from.Object(h.Metadata.Namespace)); made != nil {
			err = errors.Join(err, add(made["data"]))
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
	of, err := readSource(ctx, t.Over, wanted.SourceRef.Kind, namespace, wanted.SourceRef.Name)
	if err != nil {
		return "", err
	}
	of.kind = wanted.SourceRef.Kind
	if err := add(of.Spec); err != nil || !of.isIn(t) {
		return fmt.Sprintf("%x", sum.Sum(nil)), err
	}
	chart := of.artifact(t)
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

// isTouched reports whether a HelmRelease of the tree has other inputs than in an earlier one. What cannot be told counts as changed.
func isTouched(ctx context.Context, t, before *applied.Tree, ref object.Ref) bool {
	if !before.Over.Makes(ref) {
		return true
	}
	now, err := inputsOf(ctx, t, ref)
	then, errThen := inputsOf(ctx, before, ref)
	return err != nil || errThen != nil || now != then
}

package flux

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/helmdrift/helmdrift/internal/files"
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
	root, done, err := files.Unpack(archive)
	if err != nil {
		return o, done, err
	}
	if o.Root, err = filepath.EvalSymlinks(root); err != nil {
		return o, done, err
	}
	o.Dir = filepath.Join(o.Root, dir)
	return o, done, os.MkdirAll(o.Dir, 0o700) // the change may add the folder
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

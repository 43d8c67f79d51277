package flux

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file leaves out the HelmReleases that a change does not touch: those whose inputs are the same in an earlier tree.

// earlier returns the order for the same folder in the files of an earlier commit, which are a tar archive. Done removes the files; it is
// never nil.
func earlier(o tree.Order, archive []byte) (order tree.Order, done func(), err error) {
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
	root, done, err := files.Unpack(archive, false)
	if err != nil {
		return o, done, err
	}
	if o.Root, err = filepath.EvalSymlinks(root); err != nil {
		return o, done, err
	}
	o.Dir = filepath.Join(o.Root, dir)
	return o, done, os.MkdirAll(o.Dir, 0o700) // the change may add the folder
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
	if err != nil {
		return "", err
	}
	var wanted api.ChartSpec
	namespace := sourceNamespace(h)
	switch ref := h.Spec.ChartRef; {
	case h.Spec.Chart != nil:
		wanted = h.Spec.Chart.Spec
	case ref != nil:
		of, err := readSource(ctx, t.Over, ref.Kind, namespace, ref.Name)
		if err = errors.Join(err, add(of.Spec)); err != nil {
			return "", err
		}
		wanted = of.Spec.ChartSpec // of a HelmChart
	}
	if wanted.SourceRef.Name == "" {
		return fmt.Sprintf("%x", sum.Sum(nil)), nil
	}
	namespace = cmp.Or(wanted.SourceRef.Namespace, namespace)
	of, err := readSource(ctx, t.Over, wanted.SourceRef.Kind, namespace, wanted.SourceRef.Name)
	if err != nil {
		return "", err
	}
	if err := add(of.Spec); err != nil || !of.isIn(t) {
		return fmt.Sprintf("%x", sum.Sum(nil)), err
	}
	chart := of.artifact(t)
	artifact, err := tree.OpenArtifact(chart.Dir, chart.Kind, chart.Ignore)
	if err != nil {
		return "", err
	}
	defer func() { _ = artifact.Close() }()
	names := []string{tree.CleanPath(wanted.Chart)}
	for _, file := range wanted.ValuesFiles {
		names = append(names, tree.CleanPath(file))
	}
	files, err := artifact.Digest(names...)
	return fmt.Sprintf("%x %s", sum.Sum(nil), files), err
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

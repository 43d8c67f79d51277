package flux

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file leaves out the HelmReleases that a change does not touch: those whose inputs are the same in an earlier tree.

// earlier returns the order for the same folders in the files of an earlier commit, which are a tar archive. Done removes the files; it is
// never nil.
func earlier(o tree.Order, archive []byte) (order tree.Order, done func(), err error) {
	dir, err := inside(o.Root, o.Dir)
	if err != nil {
		return o, func() {}, err
	}
	o.Sources = slices.Clone(o.Sources)
	for i, s := range o.Sources {
		if o.Sources[i].Dir, err = inside(o.Root, s.Dir); err != nil {
			return o, func() {}, hint.New(fmt.Errorf("--local-source %s/%s/%s: %w", s.Kind, s.Namespace, s.Name, err),
				"its files at that commit are not known; without --only-changed, all HelmReleases are compared")
		}
	}
	root, done, err := files.Unpack(archive, false)
	if err != nil {
		return o, done, err
	}
	if o.Root, err = filepath.EvalSymlinks(root); err != nil {
		return o, done, err
	}
	o.Dir = filepath.Join(o.Root, dir)
	err = os.MkdirAll(o.Dir, 0o700) // the change may add the folder
	for i, s := range o.Sources {
		o.Sources[i].Dir = filepath.Join(o.Root, s.Dir)
		err = errors.Join(err, os.MkdirAll(o.Sources[i].Dir, 0o700))
	}
	return o, done, err
}

// inside returns the path of a folder below the root of a tree. It is an error if the folder is elsewhere.
func inside(root, folder string) (string, error) {
	dir, err := filepath.Abs(folder)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		dir, err = filepath.Rel(root, dir)
	}
	if err == nil && !filepath.IsLocal(dir) {
		err = fmt.Errorf("%s is outside of the working tree %s", folder, root)
	}
	return dir, err
}

// errEachCommit means that the inputs of a HelmRelease are other ones with each commit, whatever it changes.
var errEachCommit = errors.New("the version of the chart ends with the commit")

// inputsOf returns a digest of everything that the tree says about a HelmRelease: its spec and its annotations, which may ask for an
// upgrade, the objects that its values come from, its source, and the files of its chart.
func inputsOf(ctx context.Context, t *applied.Tree, ref object.Ref) (string, error) {
	o := t.Over.Made(ref)
	h := api.HelmReleaseOf(o)
	if h.Fault != nil {
		return "", h.Fault
	}
	sum := sha256.New()
	add := func(v any) error { return json.NewEncoder(sum).Encode(v) }
	err := errors.Join(add(o["spec"]), add(h.Metadata.Annotations))
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
		if err = errors.Join(err, add(of.Spec), add(of.inTree)); err != nil {
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
	if err := errors.Join(add(of.Spec), add(of.inTree)); err != nil || !of.isIn(t) {
		return fmt.Sprintf("%x", sum.Sum(nil)), err
	}
	if wanted.ReconcileStrategy == "Revision" {
		return "", errEachCommit
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

// isTouched reports whether a HelmRelease of the tree has other inputs than in an earlier one. What cannot be told counts as changed, and
// so does what each commit changes, and what only one of the two makes: the other may not have been built.
func isTouched(ctx context.Context, t, before *applied.Tree, ref object.Ref) bool {
	if !before.Over.Makes(ref) {
		return true
	}
	now, err := inputsOf(ctx, t, ref)
	then, errThen := inputsOf(ctx, before, ref)
	return err != nil || errThen != nil || now != then
}

// isAsBefore reports whether an earlier tree has the same problem with a ResourceSet, and a change leaves it as it is, and every object of
// Flux Operator that may have its inputs. Without an earlier tree, that is not known.
func isAsBefore(t, before *applied.Tree, p tree.Problem) bool {
	inputs := func(of *applied.Tree) (out []string) {
		for _, o := range of.Objects() {
			if !bytes.Contains(o.JSON, []byte(tree.OperatorGroup)) {
				continue
			}
			if kind := api.KindOf(o.Map()); kind.Group == tree.OperatorGroup && (kind.Kind != "ResourceSet" || o.Title() == p.Where) {
				out = append(out, string(o.JSON))
			}
		}
		return slices.Sorted(slices.Values(out))
	}
	return before != nil && slices.Contains(before.Problems(), p) && slices.Equal(inputs(t), inputs(before))
}

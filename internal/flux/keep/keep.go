package keep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/places"
	"github.com/helmdrift/helmdrift/internal/unknown"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Keeper changes the values of a HelmRelease in a working tree. It writes no file.
type Keeper struct {
	places.Editor
	ctx    context.Context
	tree   *applied.Tree
	from   drift.Connection
	build  Build
	ref    object.Ref
	layers []layer
	// at are the values before all changes.
	at written
}

// written are the values of a HelmRelease in its places. It implements places.Values and deployer.Reader.
type written struct {
	of      *Keeper
	release map[string]any
	// objects are what spec.valuesFrom names.
	objects map[object.Ref]cluster.Live
}

// Read implements deployer.Reader.
func (w written) Read(_ context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := map[object.Ref]cluster.Live{}
	for _, ref := range wanted {
		out[ref] = w.objects[ref]
	}
	return out
}

// Compose implements places.Values: it returns the values that helm-controller composes.
func (w written) Compose() (map[string]any, error) {
	h := api.HelmReleaseOf(w.release)
	if h.Fault != nil {
		return nil, h.Fault
	}
	c, err := h.Compose(w.of.ctx, w)
	if err != nil {
		return nil, err
	}
	return c.Values, nil
}

// Build builds a tree again with changed files.
type Build func(drift.Connection, tree.Order) (*applied.Tree, error)

// New finds the places of the values of a HelmRelease in a tree. It is an error if they are not those that were composed of the tree.
func New(
	ctx context.Context, t *applied.Tree, h *api.HelmRelease, was *api.Composition, from drift.Connection, build Build,
) (*Keeper, error) {
	k := &Keeper{
		ctx: ctx, tree: t, from: from, build: build,
		ref: api.HelmReleaseRef(h.Metadata.Namespace, h.Metadata.Name), layers: layersOf(t, h),
	}
	k.at = written{of: k, objects: t.Over.Read(ctx, was.Inputs), release: t.Over.Read(ctx, []object.Ref{k.ref})[k.ref].Object}
	k.Editor = places.Editor{
		OwnName: "spec.values", Controller: "Flux", Otherwise: "a patch of kustomize or a variable changes it",
		Values: k.at, Read: func(file string) ([]byte, error) { return tree.ReadFile(k.Root(), file) },
	}
	for _, l := range k.layers {
		k.Layers = append(k.Layers, l.Layer)
	}
	values, err := k.at.Compose()
	if err == nil && api.Digest(values) != api.Digest(was.Values) {
		err = errors.New("what the values come from has changed meanwhile")
	}
	return k, err
}

// Root returns the folder of the tree that file names are relative to.
func (k *Keeper) Root() string { return k.tree.Order().Root }

// Of implements places.Values. The values of a layer are not known if they come from a Secret that may not be read or from an encrypted
// text.
func (w written) Of(at int) (values map[string]any, isKnown bool) {
	l := &w.of.layers[at]
	if l.reference == nil {
		return object.Child(object.Child(w.release, "spec"), "values"), true
	}
	text, found, err := l.reference.TextIn(w.objects[l.object].Object)
	if w.objects[l.object].Err != nil {
		text, found = unknown.Text, true
	}
	switch {
	case err != nil || !found:
		return nil, true
	case l.reference.TargetPath != "":
		values = map[string]any{}
		return values, l.reference.SetIn(values, text) == nil
	}
	err = yaml.Unmarshal([]byte(text), &values)
	return values, err == nil
}

// With implements places.Values.
func (w written) With(at int, values map[string]any) (places.Values, error) {
	l := &w.of.layers[at]
	if l.reference == nil {
		w.release = places.With(w.release, values, "spec", "values")
		return w, nil
	}
	content, err := json.Marshal(values)
	if err != nil {
		return nil, errors.New("the values are no JSON")
	}
	w.objects = maps.Clone(w.objects)
	w.objects[l.object] = cluster.Live{Object: places.With(w.objects[l.object].Object, string(content), "data", l.reference.KeyOrDefault())}
	return w, nil
}

// Prove builds the tree with the files of the last Rewrite. For each of its edits it returns why the tree refutes it, or "": Flux must
// compose the values that Rewrite returned, and nothing else in the tree may change.
func (k *Keeper) Prove() ([]string, error) {
	proof := k.NewProof()
	order := k.tree.Order()
	order.Changed = k.Texts()
	after, err := k.build(k.tree.Seen(k.from), order)
	if err != nil {
		if k.ctx.Err() != nil {
			return nil, k.ctx.Err()
		}
		proof.All("the tree cannot be built with it: " + err.Error())
		return proof.Reasons, nil
	}
	for _, problem := range after.Problems() {
		if problem.Severity == tree.Failed && !slices.Contains(k.tree.Problems(), problem) {
			proof.All("the tree cannot be built with it: " + problem.String())
			return proof.Reasons, nil
		}
	}
	h, err := api.Read(k.ctx, after.Over, k.ref.Namespace, k.ref.Name)
	var composed *api.Composition
	if err == nil {
		composed, err = h.Compose(k.ctx, after.Over)
	}
	if err != nil {
		proof.All("Flux cannot compose the values with it: " + err.Error())
		return proof.Reasons, nil
	}
	proof.Composed(composed.Values, "a patch of kustomize, a variable or a field that somebody set in the cluster changes it")
	mine := append(slices.Clone(composed.Inputs), k.ref)
	for ref := range k.at.objects {
		mine = append(mine, ref)
	}
	for _, o := range changedFrom(k.tree, after) {
		if !slices.Contains(mine, o.ref) {
			proof.File(o.file, "the tree also makes "+deployer.TitleOf(o.ref.Kind, o.ref.Namespace, o.ref.Name)+
				" of the same text, which would change too")
		}
	}
	return proof.Reasons, nil
}

// madeOf is an object with the file that it comes from.
type madeOf struct {
	ref  object.Ref
	file string
}

// changedFrom returns the objects that another tree makes otherwise, or that only one of the two makes.
func changedFrom(t, other *applied.Tree) (out []madeOf) {
	contents := func(of *applied.Tree) map[madeOf]string {
		out := map[madeOf]string{}
		for _, o := range of.Objects() {
			content := o.Map()
			out[madeOf{applied.RefOf(content), o.File}] = string(o.JSON)
		}
		return out
	}
	before, after := contents(t), contents(other)
	all := maps.Clone(before)
	maps.Copy(all, after)
	for o := range all {
		if before[o] != after[o] {
			out = append(out, o)
		}
	}
	order.Sort(out, func(a, b madeOf) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return out
}

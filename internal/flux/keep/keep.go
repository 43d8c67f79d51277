package keep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/unknown"
	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Keeper changes the values of a HelmRelease in a working tree. It writes no file.
type Keeper struct {
	ctx    context.Context
	tree   *applied.Tree
	from   drift.Connection
	build  Build
	ref    object.Ref
	layers []layer
	// at are the values before all changes, and now those after the last Rewrite. files are the files of each of its
	// edits.
	at, now written
	edits   []valuesfile.Edit
	files   [][]string
	// original are the texts of files as they were read first.
	original map[string][]byte
	// composed are the values that Flux composes after the last Rewrite.
	composed map[string]any
}

// written are the values of a HelmRelease in its places.
type written struct {
	// texts are the files that have changed, by their paths below the root of the tree.
	texts   map[string][]byte
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

// compose returns the values that helm-controller composes.
func (w written) compose(ctx context.Context) (map[string]any, error) {
	h := api.HelmReleaseOf(w.release)
	if h.Fault != nil {
		return nil, h.Fault
	}
	c, err := h.Compose(ctx, w)
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
	k := &Keeper{ctx: ctx, tree: t, from: from, build: build, ref: api.HelmReleaseRef(h.Metadata.Namespace, h.Metadata.Name),
		layers: layersOf(t, h), original: map[string][]byte{}}
	k.at.objects = t.Over.Read(ctx, was.Inputs)
	k.at.release = t.Over.Read(ctx, []object.Ref{k.ref})[k.ref].Object
	values, err := k.at.compose(ctx)
	if err == nil && api.Digest(values) != api.Digest(was.Values) {
		err = errors.New("what the values come from has changed meanwhile")
	}
	return k, err
}

// Root returns the folder of the tree that file names are relative to.
func (k *Keeper) Root() string { return k.tree.Order().Root }

// Rewrite changes values in the places where they live, and returns the values that Flux then composes, as JSON. It forgets what the last
// call did. The error says which change the tree cannot take, and does not quote values; it wraps a *valuesfile.SharedError if an anchor is
// the reason.
func (k *Keeper) Rewrite(edits []valuesfile.Edit) ([]byte, error) {
	k.now, k.edits, k.files = k.at, edits, make([][]string, len(edits))
	for i, e := range edits {
		values, err := k.now.compose(k.ctx)
		if err != nil {
			return nil, err
		}
		old, found := object.ValueAt(values, e.Path)
		for _, part := range parts(e, old, found) {
			if err := k.change(part, i); err != nil {
				return nil, err
			}
		}
	}
	var err error
	if k.composed, err = k.now.compose(k.ctx); err != nil {
		return nil, err
	}
	return json.Marshal(k.composed)
}

// parts returns the smallest changes of a map, because its keys may live in different places.
func parts(e valuesfile.Edit, old any, found bool) (out []valuesfile.Edit) {
	before, wasMap := old.(map[string]any)
	after, isMap := e.Value.(map[string]any)
	switch {
	case e.Remove || !found || !wasMap || !isMap || len(after) == 0 || len(before) == 0:
		return []valuesfile.Edit{e}
	}
	for _, key := range object.SortedKeys(after) {
		was, found := before[key]
		if !found || !object.Equal(was, after[key]) {
			out = append(out, parts(valuesfile.Edit{Path: append(slices.Clone(e.Path), key), Value: after[key]}, was, found)...)
		}
	}
	for _, key := range object.SortedKeys(before) {
		if _, stays := after[key]; !stays {
			out = append(out, valuesfile.Edit{Path: append(slices.Clone(e.Path), key), Remove: true})
		}
	}
	return out
}

// change makes one change in the place where its value lives, and checks that Flux then composes the values with this change and no
// other. Number is that of its edit.
func (k *Keeper) change(e valuesfile.Edit, number int) error {
	values, err := k.now.compose(k.ctx)
	if err != nil {
		return err
	}
	wanted, err := edited(values, e)
	if err != nil {
		return err
	}
	for {
		at, why, err := k.home(e)
		if err == nil {
			err = k.set(&k.layers[at], e, number)
		}
		if err != nil {
			return err
		}
		if values, err = k.now.compose(k.ctx); err != nil {
			return err
		}
		if object.Equal(any(values), any(wanted)) {
			return nil
		}
		if _, stays := object.ValueAt(values, e.Path); !e.Remove || !stays || !k.isAbove(at, e.Path) {
			if why != "" {
				return fmt.Errorf("%s, and spec.values does not override it", why)
			}
			return fmt.Errorf("a change in %s does not make Flux compose these values", k.layers[at].title)
		}
	}
}

// isAbove reports whether another layer than the one that was changed has a value, too: it shows once the first is removed.
func (k *Keeper) isAbove(changed int, path []any) bool {
	for i := range k.layers {
		if values, _ := k.now.valuesOf(&k.layers[i]); i != changed && has(values, path) {
			return true
		}
	}
	return false
}

// home returns the number of the layer that has a value. A value that none has belongs to spec.values, and so does one that cannot be
// changed where it is, if spec.values overrides it. Then why says where it is.
func (k *Keeper) home(e valuesfile.Edit) (at int, why string, err error) {
	own := &k.layers[0]
	for i := range k.layers {
		l := &k.layers[i]
		values, isKnown := k.now.valuesOf(l)
		if !isKnown {
			return 0, "", fmt.Errorf("it may live in %s, and that is not known", l.title)
		}
		if !has(values, e.Path) {
			continue
		}
		if l.place != nil {
			return i, "", nil
		}
		why = fmt.Sprintf("it lives in %s: %s", l.title, l.fault)
		isOutside := l.reference != nil && l.reference.Kind != "Secret" && (l.reference.TargetPath != "" || !k.tree.Over.Makes(l.object))
		if !isOutside || e.Remove || own.place == nil {
			return 0, "", errors.New(why)
		}
		return 0, why, nil
	}
	if own.place == nil {
		return 0, "", fmt.Errorf("it belongs to %s: %s", own.title, own.fault)
	}
	return 0, "", nil
}

// valuesOf returns the values of a layer. They are not known if they come from a Secret that may not be read or from an encrypted text, and
// then they may have any path.
func (w written) valuesOf(l *layer) (values map[string]any, isKnown bool) {
	if l.reference == nil {
		found, _ := object.ValueAt(w.release, []any{"spec", "values"})
		values, _ = found.(map[string]any)
		return values, true
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

// set makes a change in a layer: in the text of its file, and in its object.
func (k *Keeper) set(l *layer, e valuesfile.Edit, number int) error {
	if !l.isPlain(e.Path) {
		return fmt.Errorf("%s has another value there than Flux applies: a patch of kustomize or a variable changes it", l.place.file)
	}
	text, err := k.textOf(l.place.file)
	if err == nil {
		text, err = l.place.apply(text, e)
	}
	if err != nil {
		return err
	}
	values, _ := k.now.valuesOf(l)
	if values, err = edited(values, e); err != nil {
		return err
	}
	k.now.texts = maps.Clone(k.now.texts)
	if k.now.texts == nil {
		k.now.texts = map[string][]byte{}
	}
	k.now.texts[l.place.file] = text
	k.files[number] = append(k.files[number], l.place.file)
	if l.reference == nil {
		k.now.release = with(k.now.release, values, "spec", "values")
		return nil
	}
	content, err := json.Marshal(values)
	if err != nil {
		return errors.New("the values are no JSON")
	}
	k.now.objects = maps.Clone(k.now.objects)
	k.now.objects[l.object] = cluster.Live{Object: with(k.now.objects[l.object].Object, string(content), "data", l.reference.KeyOrDefault())}
	return nil
}

// textOf returns a file with the changes that were made so far.
func (k *Keeper) textOf(file string) ([]byte, error) {
	if text, isChanged := k.now.texts[file]; isChanged {
		return text, nil
	}
	if text, isRead := k.original[file]; isRead {
		return text, nil
	}
	text, err := tree.ReadFile(k.Root(), file)
	if err == nil {
		k.original[file] = text
	}
	return text, err
}

// with returns a map with another value at a path. It shares everything else.
func with(m map[string]any, value any, path ...string) map[string]any {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]any{}
	}
	if len(path) > 1 {
		below, _ := out[path[0]].(map[string]any)
		value = with(below, value, path[1:]...)
	}
	out[path[0]] = value
	return out
}

// Changes returns the files that the last Rewrite changed, in the order of their names.
func (k *Keeper) Changes() []files.Change {
	var out []files.Change
	for _, name := range slices.Sorted(maps.Keys(k.now.texts)) {
		out = append(out, files.Change{Name: filepath.FromSlash(name), Before: k.original[name], After: k.now.texts[name]})
	}
	return out
}

// Prove builds the tree with the files of the last Rewrite. For each of its edits it returns why the tree refutes it, or "": Flux must
// compose the values that Rewrite returned, and nothing else in the tree may change.
func (k *Keeper) Prove() ([]string, error) {
	out := make([]string, len(k.files))
	refute := func(why string, isIn func(i int) bool) {
		found := false
		for i := range out {
			if out[i] == "" && isIn(i) {
				out[i], found = why, true
			}
		}
		for i := range out {
			if !found && out[i] == "" {
				out[i] = why
			}
		}
	}
	all := func(int) bool { return true }
	order := k.tree.Order()
	order.Changed = k.now.texts
	after, err := k.build(k.tree.Seen(k.from), order)
	if err != nil {
		if k.ctx.Err() != nil {
			return nil, k.ctx.Err()
		}
		refute("the tree cannot be built with it: "+err.Error(), all)
		return out, nil
	}
	for _, problem := range after.Problems() {
		if problem.Severity == tree.Failed && !slices.Contains(k.tree.Problems(), problem) {
			refute("the tree cannot be built with it: "+problem.String(), all)
			return out, nil
		}
	}
	h, err := api.Read(k.ctx, after.Over, k.ref.Namespace, k.ref.Name)
	var composed *api.Composition
	if err == nil {
		composed, err = h.Compose(k.ctx, after.Over)
	}
	if err != nil {
		refute("Flux cannot compose the values with it: "+err.Error(), all)
		return out, nil
	}
	for _, path := range different(nil, composed.Values, k.composed) {
		refute(fmt.Sprintf("Flux composes something else at %s: a patch of kustomize, a variable or a field that somebody set in the cluster "+
			"changes it", valuesfile.PathText(path)), func(i int) bool {
			n := min(len(path), len(k.edits[i].Path))
			return slices.Equal(path[:n], k.edits[i].Path[:n])
		})
	}
	mine := append(slices.Clone(composed.Inputs), k.ref)
	for ref := range k.at.objects {
		mine = append(mine, ref)
	}
	for _, o := range changedFrom(k.tree, after) {
		if !slices.Contains(mine, o.ref) {
			refute("the tree also makes "+deployer.TitleOf(o.ref.Kind, o.ref.Namespace, o.ref.Name)+" of the same text, which would change too",
				func(i int) bool { return slices.Contains(k.files[i], o.file) })
		}
	}
	return out, nil
}

// different returns the paths where two values differ. Lists are compared as a whole.
func different(path []any, a, b any) (out [][]any) {
	left, isMap := a.(map[string]any)
	right, both := b.(map[string]any)
	if !isMap || !both {
		if !object.Equal(a, b) {
			out = append(out, path)
		}
		return out
	}
	for _, key := range object.SortedKeys(right) {
		was, found := left[key]
		if at := append(slices.Clone(path), key); !found {
			out = append(out, at)
		} else {
			out = append(out, different(at, was, right[key])...)
		}
	}
	for _, key := range object.SortedKeys(left) {
		if _, found := right[key]; !found {
			out = append(out, append(slices.Clone(path), key))
		}
	}
	return out
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
	for o, text := range before {
		if after[o] != text {
			out = append(out, o)
		}
	}
	for o := range after {
		if _, found := before[o]; !found {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b madeOf) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return out
}

package keep

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file finds the places of a working tree where values of a HelmRelease are written: spec.values, and the ConfigMaps of
// spec.valuesFrom. keep.go changes them.

// layer is one source of the values of a HelmRelease.
type layer struct {
	// title names it in messages.
	title string
	// reference is nil for spec.values, and object is what has the values.
	reference *api.ValuesReference
	object    object.Ref
	// place is where the tree has the values. If it is nil, fault says why they cannot be changed there.
	place *place
	fault string
	// built are the values as the build of the tree makes them, and raw are those of the file.
	built, raw map[string]any
}

// place is a part of a file of the tree.
type place struct {
	file string
	// document is its number in the file, or -1 if the file has only values.
	document int
	// path leads to the values in the document, or to a text that holds them.
	path   []any
	isText bool
}

// open returns the document of a place in the text of its file.
func (p *place) open(text []byte) (*valuesfile.File, error) {
	if p.document < 0 {
		return valuesfile.Parse(p.file, text)
	}
	all := valuesfile.Documents(p.file, text)
	if p.document >= len(all) {
		return nil, errors.New(p.file + " does not have the document any more")
	}
	return all[p.document].File, all[p.document].Err
}

// values returns the values at the place.
func (p *place) values(text []byte) (map[string]any, error) {
	f, err := p.open(text)
	if err == nil && p.isText {
		f, err = f.Nested(p.path)
	}
	if err != nil {
		return nil, err
	}
	if p.isText {
		return f.Values(), nil
	}
	found, _ := object.ValueAt(f.Values(), p.path)
	values, isMap := found.(map[string]any)
	if found != nil && !isMap {
		return nil, fmt.Errorf("%s: its values are not a table", p.file)
	}
	return values, nil
}

// apply returns the text of the file with an edit of the values.
func (p *place) apply(text []byte, e valuesfile.Edit) ([]byte, error) {
	f, err := p.open(text)
	if err != nil {
		return nil, err
	}
	if p.isText {
		return f.ApplyNested(p.path, e)
	}
	e.Path = slices.Concat(p.path, e.Path)
	out, err := f.Apply(e)
	var shared *valuesfile.SharedError
	if errors.As(err, &shared) {
		return nil, p.rebased(shared)
	}
	return out, err
}

// rebased returns the error of an anchor with the paths in the values.
func (p *place) rebased(e *valuesfile.SharedError) error {
	out := *e
	out.Also = nil
	for _, also := range e.Also {
		n := len(p.path)
		if len(also.Path) <= n || !slices.Equal(also.Path[:n], p.path) {
			out.Also = nil // the anchor is used outside of the values
			break
		}
		also.Path = also.Path[n:]
		out.Also = append(out.Also, also)
	}
	return fmt.Errorf("%s: %w", p.file, &out)
}

// layersOf returns the sources of the values, those first that mostly win: spec.values, and then the references from the last to the first.
func layersOf(t *applied.Tree, h *api.HelmRelease) []layer {
	own := layer{title: "spec.values of " + h.Title(), object: api.HelmReleaseRef(h.Metadata.Namespace, h.Metadata.Name)}
	find(t, &own, []any{"spec", "values"})
	out := []layer{own}
	for i, ref := range slices.Backward(h.Spec.ValuesFrom) {
		key := ref.Object(h.Metadata.Namespace)
		l := layer{title: fmt.Sprintf("key %s of %s", ref.KeyOrDefault(), deployer.TitleOf(key.Kind, key.Namespace, key.Name)),
			reference: &h.Spec.ValuesFrom[i], object: key}
		switch other := otherUser(t, h, key); {
		case ref.Kind == "Secret":
			l.fault = "absorb writes no values into a Secret"
		case ref.TargetPath != "":
			l.fault = "it is put at the targetPath " + ref.TargetPath
		case other != "":
			l.fault = other + " takes values from it too"
		default:
			find(t, &l, []any{"data", ref.KeyOrDefault()})
		}
		out = append(out, l)
	}
	return out
}

// otherUser returns another HelmRelease of the tree that takes values from an object, or "".
func otherUser(t *applied.Tree, h *api.HelmRelease, of object.Ref) string {
	for _, item := range t.HelmReleases() {
		other := api.HelmReleaseOf(item)
		if other.Title() == h.Title() || other.Metadata.Namespace != of.Namespace {
			continue
		}
		for _, ref := range other.Spec.ValuesFrom {
			if ref.Kind == of.Kind && ref.Name == of.Name {
				return other.Title()
			}
		}
	}
	return ""
}

// find finds the place of a layer, at a path of its object.
func find(t *applied.Tree, l *layer, at []any) {
	i := slices.IndexFunc(t.Objects(), func(o tree.Object) bool {
		return applied.RefOf(o.Map()) == l.object
	})
	if i < 0 {
		l.fault = "the tree does not have " + deployer.TitleOf(l.object.Kind, l.object.Namespace, l.object.Name)
		return
	}
	o := t.Objects()[i]
	err := l.setBuilt(o.Map(), at)
	if err == nil {
		l.place, err = placeOf(t, o, l.object, at)
	}
	var text []byte
	if err == nil {
		text, err = tree.ReadFile(t.Order().Root, l.place.file)
	}
	if err == nil {
		l.raw, err = l.place.values(text)
	}
	if err == nil {
		err = notShared(t, l.place.file)
	}
	if err != nil {
		l.place, l.fault = nil, err.Error()
	}
}

// notShared returns an error if several kustomizations of the tree include a file: it is a base of several clusters or environments, and
// only one of them is compared.
func notShared(t *applied.Tree, file string) error {
	users, err := tree.SharedBy(t.Order().Root, file)
	if err == nil && len(users) > 1 {
		err = fmt.Errorf("%s is a part of %s and of %s, and a change would be in both", file, users[0], users[1])
	}
	return err
}

// setBuilt sets the values of the layer as the tree makes them.
func (l *layer) setBuilt(o map[string]any, at []any) error {
	found, _ := object.ValueAt(o, at)
	if l.reference == nil {
		l.built, _ = found.(map[string]any)
		return nil
	}
	text, isText := found.(string)
	if !isText {
		return fmt.Errorf("%s is no text in data", l.title)
	}
	if yaml.Unmarshal([]byte(text), &l.built) != nil {
		return fmt.Errorf("%s is not a YAML document with a table", l.title)
	}
	return nil
}

// placeOf returns the place of an object of the tree, at a path of the object.
func placeOf(t *applied.Tree, o tree.Object, ref object.Ref, at []any) (*place, error) {
	name := deployer.TitleOf(ref.Kind, ref.Namespace, ref.Name)
	switch {
	case o.File == "" || o.Dir == "":
		return nil, fmt.Errorf("the file of %s is not known", name)
	case o.Dir != t.Order().Root:
		return nil, fmt.Errorf("%s is in another source than the working tree: %s", name, o.Dir)
	}
	text, err := tree.ReadFile(t.Order().Root, o.File)
	if err != nil {
		return nil, err
	}
	if o.IsGenerated() {
		return generated(o.File, text, ref, at)
	}
	var found []int
	documents := valuesfile.Documents(o.File, text)
	for i, d := range documents {
		if d.Err != nil {
			err = d.Err
		} else if isSameKind(d.Values(), ref) {
			found = append(found, i)
		}
	}
	i, isOne := chooseDocument(documents, found, ref)
	switch {
	case !isOne && err != nil:
		return nil, err
	case !isOne:
		return nil, fmt.Errorf("%s has no document, or several, that can be %s", o.File, name)
	}
	return &place{file: o.File, document: i, path: at, isText: ref.Kind == "ConfigMap"}, nil
}

// isSameKind reports whether a document has the group and the kind of an object. Its version may be another.
func isSameKind(document map[string]any, ref object.Ref) bool {
	kind := api.KindOf(document)
	return kind.Group == ref.Group && kind.Kind == ref.Kind
}

// chooseDocument returns the document of an object among those of its kind: the one with its name, and with its namespace if there are
// several. A prefix or a suffix of a kustomization may have changed the name of the only one.
func chooseDocument(documents []valuesfile.Document, of []int, ref object.Ref) (int, bool) {
	named := func(field, value string) func(int) bool {
		return func(i int) bool {
			found, _ := object.ValueAt(documents[i].Values(), []any{"metadata", field})
			return found == any(value)
		}
	}
	same := object.Filter(of, named("name", ref.Name))
	if len(same) > 1 {
		same = object.Filter(same, named("namespace", ref.Namespace))
	}
	if len(same) == 0 {
		same = object.Filter(of, func(i int) bool {
			found, _ := object.ValueAt(documents[i].Values(), []any{"metadata", "name"})
			name, _ := found.(string)
			return name != "" && strings.Contains(ref.Name, name)
		})
	}
	if len(same) != 1 {
		return 0, false
	}
	return same[0], true
}

// generated returns the place of a key of a ConfigMap that a configMapGenerator of a kustomization makes: the file that has the values
// (sigs.k8s.io/kustomize/api v0.21.1 kv/kv.go keyValuesFromFileSources).
func generated(file string, content []byte, ref object.Ref, at []any) (*place, error) {
	var k struct {
		Generators []struct {
			Name            string   `json:"name"`
			Files, Literals []string `json:",omitempty"`
		} `json:"configMapGenerator"`
	}
	if err := yaml.Unmarshal(content, &k); err != nil {
		return nil, fmt.Errorf("%s cannot be read as a kustomization", file)
	}
	key, _ := at[len(at)-1].(string)
	longest, found := "", ""
	for _, g := range k.Generators {
		if !strings.Contains(ref.Name, g.Name) || len(g.Name) < len(longest) {
			continue
		}
		for _, source := range g.Files {
			if name, from := tree.FileSource(source); name == key {
				longest, found = g.Name, from
			}
		}
		for _, literal := range g.Literals {
			if name, _, _ := strings.Cut(literal, "="); name == key {
				longest, found = g.Name, ""
			}
		}
	}
	if found == "" {
		return nil, fmt.Errorf("%s makes %s, and no file of a configMapGenerator in it has the key %s", file,
			deployer.TitleOf(ref.Kind, ref.Namespace, ref.Name), key)
	}
	return &place{file: path.Join(path.Dir(file), found), document: -1}, nil
}

// has reports whether values have a path, or the list that its last step is an index of.
func has(values map[string]any, path []any) bool {
	if _, found := object.ValueAt(values, path); found || len(path) == 0 {
		return found
	}
	if _, isIndex := path[len(path)-1].(int); !isIndex {
		return false
	}
	above, _ := object.ValueAt(values, path[:len(path)-1])
	_, isList := above.([]any)
	return isList
}

// isPlain reports whether a file has the same value at a path as what the tree makes of it, so that no patch and no variable changes it.
func (l *layer) isPlain(path []any) bool {
	if n := len(path); n > 0 {
		if _, isIndex := path[n-1].(int); isIndex {
			path = path[:n-1] // the other items count, too
		}
	}
	raw, inFile := object.ValueAt(l.raw, path)
	built, isMade := object.ValueAt(l.built, path)
	return inFile == isMade && object.Equal(raw, built)
}

// edited returns values with an edit.
func edited(values map[string]any, e valuesfile.Edit) (out map[string]any, err error) {
	if values == nil {
		values = map[string]any{}
	}
	text, err := json.Marshal(values)
	if err != nil {
		return nil, errors.New("the values are no JSON")
	}
	f, err := valuesfile.Parse("values.json", text)
	if err != nil {
		return nil, err
	}
	if text, err = f.Apply(e); err != nil {
		return nil, err
	}
	return out, json.Unmarshal(text, &out)
}

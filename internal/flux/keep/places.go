package keep

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/places"
	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file finds the places of a working tree where values of a HelmRelease are written: spec.values, and the ConfigMaps of
// spec.valuesFrom. keep.go changes them.

// layer is one source of the values of a HelmRelease.
type layer struct {
	places.Layer
	// reference is nil for spec.values, and object is what has the values.
	reference *api.ValuesReference
	object    object.Ref
}

// layersOf returns the sources of the values, those first that mostly win: spec.values, and then the references from the last to the first.
func layersOf(t *applied.Tree, h *api.HelmRelease) []layer {
	own := layer{Layer: places.Layer{Title: "spec.values of " + h.Title()}, object: api.HelmReleaseRef(h.Metadata.Namespace, h.Metadata.Name)}
	find(t, &own, []any{"spec", "values"})
	out := []layer{own}
	for i, ref := range slices.Backward(h.Spec.ValuesFrom) {
		key := ref.Object(h.Metadata.Namespace)
		title := fmt.Sprintf("key %s of %s", ref.KeyOrDefault(), deployer.TitleOf(key.Kind, key.Namespace, key.Name))
		l := layer{Layer: places.Layer{Title: title}, reference: &h.Spec.ValuesFrom[i], object: key}
		switch other := otherUser(t, h, key); {
		case ref.Kind == "Secret":
			l.Fault = "absorb writes no values into a Secret"
		case ref.TargetPath != "":
			l.Fault = "it is put at the targetPath " + ref.TargetPath
		case other != "":
			l.Fault = other + " takes values from it too"
		default:
			find(t, &l, []any{"data", ref.KeyOrDefault()})
		}
		l.Yields = ref.Kind != "Secret" && (ref.TargetPath != "" || !t.Over.Makes(key))
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
		isOf := func(ref api.ValuesReference) bool { return ref.Kind == of.Kind && ref.Name == of.Name }
		if slices.ContainsFunc(other.Spec.ValuesFrom, isOf) {
			return other.Title()
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
		l.Fault = "the tree does not have " + deployer.TitleOf(l.object.Kind, l.object.Namespace, l.object.Name)
		return
	}
	o := t.Objects()[i]
	err := l.setBuilt(o.Map(), at)
	if err == nil {
		l.Place, err = placeOf(t, o, l.object, at)
	}
	var text []byte
	if err == nil {
		text, err = tree.ReadFile(t.Order().Root, l.Place.File)
	}
	if err == nil {
		l.Raw, err = l.Place.Values(text)
	}
	if err == nil {
		err = notShared(t, l.Place.File)
	}
	if err != nil {
		l.Place, l.Fault = nil, err.Error()
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
	found, _ := valuesfile.ValueAt(o, at)
	if l.reference == nil {
		l.Built, _ = found.(map[string]any)
		return nil
	}
	text, isText := found.(string)
	if !isText {
		return fmt.Errorf("%s is no text in data", l.Title)
	}
	if yaml.Unmarshal([]byte(text), &l.Built) != nil {
		return fmt.Errorf("%s is not a YAML document with a table", l.Title)
	}
	return nil
}

// placeOf returns the place of an object of the tree, at a path of the object.
func placeOf(t *applied.Tree, o tree.Object, ref object.Ref, at []any) (*places.Place, error) {
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
	i, err := places.Find(o.File, text, ref.Key, name)
	if err != nil {
		return nil, err
	}
	return &places.Place{File: o.File, Document: i, Path: at, IsText: ref.Kind == "ConfigMap"}, nil
}

// generated returns the place of a key of a ConfigMap that a configMapGenerator of a kustomization makes: the file that has the values
// (sigs.k8s.io/kustomize/api v0.21.1 kv/kv.go keyValuesFromFileSources).
func generated(file string, content []byte, ref object.Ref, at []any) (*places.Place, error) {
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
	return &places.Place{File: path.Join(path.Dir(file), found), Document: places.WholeFile}, nil
}

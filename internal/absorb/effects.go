package absorb

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// effects returns what differs between two renderings, apart from the field itself and from what each rendering makes anew.
func (s *search) effects(before, after Rendering, w Wanted) []Effect {
	var out []Effect
	for _, key := range sortedKeys(before.Objects) {
		was := before.Objects[key]
		is, found := after.Objects[key]
		switch {
		case !found && (key != w.Key || len(w.Path) > 0) && !s.random[originOf(was)]:
			out = append(out, Effect{Key: key, Before: was.Content, Converges: s.LiveForm(key) == nil})
		case found && !object.IsSameMap(was.Content, is.Content):
			out = append(out, s.moved(key, was.Content, is.Content, w)...)
		}
	}
	for _, key := range sortedKeys(after.Objects) {
		is := after.Objects[key]
		if _, found := before.Objects[key]; !found && !s.random[originOf(is)] {
			out = append(out, Effect{Key: key, After: is.Content})
		}
	}
	return append(out, s.Hooks.Effects(before.Hooks, after.Hooks)...)
}

// sortedKeys returns the keys of objects in their order, so that a result does not depend on that of a map.
func sortedKeys(objects map[object.Key]object.Object) []object.Key {
	return slices.SortedFunc(maps.Keys(objects), object.Key.Compare)
}

// origin is where an object comes from: its template and its kind.
type origin struct{ source, kind string }

func originOf(o object.Object) origin { return origin{o.Source, o.Kind} }

// randomOf returns the origins of objects that have another name in each of two renderings of the same values. Such an object is another
// one in every rendering, so that it appears and disappears says nothing of the values.
func randomOf(a, b Rendering) map[origin]bool {
	out := map[origin]bool{}
	for key, o := range a.Objects {
		if _, found := b.Objects[key]; !found {
			out[originOf(o)] = true
		}
	}
	return out
}

// moved returns the places at which two texts of an object differ in normal form.
func (s *search) moved(key object.Key, was, is map[string]any, w Wanted) []Effect {
	var out []Effect
	live := s.LiveForm(key)
	before, after := any(s.Form(key, was)), any(s.Form(key, is))
	if key == w.Key {
		before, after = object.Without(before, w.Path), object.Without(after, w.Path)
	}
	walkDifferences(before, after, nil, func(path object.Path, before, after any) {
		// The field is taken out of both sides, which may leave an empty map on one of them and nothing on the other.
		if key == w.Key && w.Path.HasPrefix(path) && isEmpty(before) && isEmpty(after) || s.noise[placeOf(key, path)] {
			return
		}
		e := Effect{Key: key, Path: path, Before: before, After: after}
		// A place that becomes what live has is wanted anyway: two fields of one edit often have one cause.
		now, there := path.Lookup(live)
		e.Converges = live != nil && there == (after != nil) && (!there || object.Equal(now, after))
		e.Derived = isDerived(path, before, after)
		out = append(out, e)
	})
	return out
}

// isEmpty reports whether a value is absent or a map without keys.
func isEmpty(v any) bool {
	m, isMap := v.(map[string]any)
	return v == nil || isMap && len(m) == 0
}

// place identifies a place of an object.
type place struct {
	key  object.Key
	path string
}

func placeOf(key object.Key, path object.Path) place { return place{key, path.String()} }

// noiseOf returns the places at which two renderings of the same values differ.
func (s *search) noiseOf(a, b Rendering) map[place]bool {
	out := map[place]bool{}
	for key, o := range a.Objects {
		other, found := b.Objects[key]
		if !found || object.Equal(o.Content, other.Content) {
			continue
		}
		walkDifferences(s.Form(key, o.Content), s.Form(key, other.Content), nil, func(path object.Path, _, _ any) {
			out[placeOf(key, path)] = true
		})
	}
	return out
}

// walkDifferences calls visit for the leaves at which two values differ; nil stands for an absent one. Items of lists are told apart by
// their names if they have some, and by their indexes otherwise. An item that is inserted at the front would otherwise make all those after
// it differ.
func walkDifferences(a, b any, path object.Path, visit func(path object.Path, before, after any)) {
	if object.Equal(a, b) {
		return
	}
	am, aIs := a.(map[string]any)
	bm, bIs := b.(map[string]any)
	if aIs && bIs {
		for _, name := range object.SortedKeys(merged(am, bm)) {
			walkDifferences(am[name], bm[name], path.Field(name), visit)
		}
		return
	}
	al, aIs := a.([]any)
	bl, bIs := b.([]any)
	if !aIs || !bIs {
		visit(path, a, b)
		return
	}
	an, aNamed := named(al)
	bn, bNamed := named(bl)
	if aNamed && bNamed {
		for _, name := range object.SortedKeys(merged(an, bn)) {
			walkDifferences(an[name], bn[name], path.Item([]object.ListKey{{Name: "name", Value: name}}), visit)
		}
		return
	}
	for i := range max(len(al), len(bl)) {
		walkDifferences(at(al, i), at(bl, i), path.Index(i), visit)
	}
}

// named returns the items of a list by their names; false if an item has none, or two have one.
func named(list []any) (map[string]any, bool) {
	out := map[string]any{}
	for _, item := range list {
		name, ok := object.Field(item, "name").(string)
		if _, twice := out[name]; !ok || twice {
			return nil, false
		}
		out[name] = item
	}
	return out, true
}

// at returns an item of a list; nil behind its end.
func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// checksum is the form of a hash in hexadecimal digits.
var checksum = regexp.MustCompile(`^[0-9a-f]{32,64}$`)

// versionLabel is the label by which charts say which version of the application an object belongs to.
const versionLabel = "app.kubernetes.io/version"

// isDerived reports whether a place only follows something else. It is not counted, because no value could move one without the other:
//
//   - an annotation or a label with a hash, which is that of the ConfigMap whose change restarts the pods;
//   - the version label of an object, which charts make of the tag of the image. In the pods of another object it would restart these, so
//     there it counts.
func isDerived(path object.Path, before, after any) bool {
	was, ok := before.(string)
	is, ok2 := after.(string)
	if !ok || !ok2 || len(path) < 2 {
		return false
	}
	parent, last := path[len(path)-2].Name, path[len(path)-1].Name
	switch parent {
	case "labels":
		if last == versionLabel && len(path) == 3 {
			return true
		}
	case "annotations":
	default:
		return false
	}
	return checksum.MatchString(is) && checksum.MatchString(was) || strings.HasPrefix(last, "checksum/")
}

// counts reports whether an effect counts as a side effect.
func (e Effect) counts() bool { return !e.Converges && !e.Derived && !e.isTest() }

// harm counts what effects move in other objects, and in the object of the field. Other objects count first: the object of the field is
// changed in any case, and somebody looks at it.
func harm(effects []Effect, w Wanted) (others, same int) {
	for _, e := range effects {
		switch {
		case !e.counts():
		case e.Key == w.Key && e.Hook == nil:
			same++
		default:
			others++
		}
	}
	return others, same
}

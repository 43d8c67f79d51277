package search

import (
	"regexp"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Effect is a place beyond the field that edits change.
type Effect struct {
	Key object.Key
	// Hook has the events of a hook. It is nil if the object is not a hook.
	Hook []string
	// Path is empty if the object appears or disappears.
	Path          object.Path
	Before, After any
	// Converges is set if the place becomes equal to live.
	Converges bool
	// Derived is set if the place only follows something else: a checksum, or the version label.
	Derived bool
}

// origin is where an object comes from: its template and its kind.
type origin struct{ source, kind string }

func originOf(o object.Object) origin { return origin{o.Source, o.Kind} }

// counts reports whether an effect counts as a side effect.
func (e Effect) counts() bool { return !e.Converges && !e.Derived && !e.isTest() }

// isTest reports whether an effect is on a hook that only helm test runs. Such a hook checks what the values say, and no upgrade runs it.
func (e Effect) isTest() bool { return len(e.Hook) == 1 && e.Hook[0] == "test" }

// walkDifferences calls visit for the leaves that differ between two values; nil stands for an absent value. It matches items of lists by
// their names, so that an item that is inserted at the front does not make all later ones differ, or by indexes if there are no names.
func walkDifferences(a, b any, path object.Path, visit func(path object.Path, before, after any)) {
	if object.Equal(a, b) {
		return
	}
	am, aIs := a.(map[string]any)
	bm, bIs := b.(map[string]any)
	if aIs && bIs {
		for _, name := range object.AllKeys(am, bm) {
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
		for _, name := range object.AllKeys(an, bn) {
			walkDifferences(an[name], bn[name], path.Item([]object.ListKey{{Name: "name", Value: name}}), visit)
		}
		return
	}
	for i := range max(len(al), len(bl)) {
		walkDifferences(at(al, i), at(bl, i), path.Index(i), visit)
	}
}

// named returns the items of a list by their names, or false if an item has no name, or two have the same.
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

// at returns an item of a list, or nil beyond its end.
func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// checksum is the form of a hash in hexadecimal digits.
var checksum = regexp.MustCompile(`^[0-9a-f]{32,64}$`)

// versionLabel is the label that charts use for the version of the application.
const versionLabel = "app.kubernetes.io/version"

// isDerived reports whether a place only follows something else. It does not count, because no value could change one without the other:
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

// isEmpty reports whether a value is absent or a map without keys.
func isEmpty(v any) bool {
	m, isMap := v.(map[string]any)
	return v == nil || isMap && len(m) == 0
}

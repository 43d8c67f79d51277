package verdict

import (
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Differences lists the places where the server would store something else than predicted. It leaves out what the API server allocates
// in live. If onlyNamed is set, it compares only what the manifest names: the rest of a new object is up to the server.
func Differences(key object.Key, shape *kinds.Shape, live map[string]any, predicted, stored kinds.State, onlyNamed bool) []object.Path {
	d := differenceWalk{allocated: AllocatedFor(key, live, predicted.Object(), stored.Object()), onlyNamed: onlyNamed}
	d.walk(nil, States{Old: predicted, Live: stored}, shape)
	return d.paths
}

// differenceWalk collects the places where the prediction (old) and the server's answer (live) differ.
type differenceWalk struct {
	allocated *AllocatedFields
	// onlyNamed ignores what the manifest does not name.
	onlyNamed bool
	paths     []object.Path
}

func (d *differenceWalk) walk(path object.Path, n States, s *kinds.Shape) {
	n = n.withoutNulls()
	switch {
	case n.Old.Same(n.Live) || d.isAllocated(path, n):
	case n.areMaps():
		for _, name := range n.fieldNames() {
			d.walk(path.Field(name), n.field(name), s.Field(name))
		}
	case s.Keyed() && n.areLists():
		steps, _ := n.steps(s.ListRule())
		item := n.items()
		for _, step := range steps {
			d.walk(path.With(step), item(step), s.Item())
		}
	case !d.onlyNamed || n.Old.Named:
		d.paths = append(d.paths, path)
	}
}

// isAllocated reports whether the API server fills in the place. Controllers do nothing during a dry run.
func (d *differenceWalk) isAllocated(path object.Path, n States) bool {
	line := d.allocated.At(path).Value()
	return line != nil && line.OverridesManifest == nil && line.fills(n.Live)
}

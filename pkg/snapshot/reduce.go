package snapshot

import (
	"maps"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// reduced returns a copy of an object of a list without what no forecast reads: its managedFields and, for a pod, the commands and
// the values of variables of its containers. The pods may belong to other releases.
func reduced(o map[string]any) map[string]any {
	out := maps.Clone(o)
	out["metadata"] = without(object.Child(o, "metadata"), "managedFields")
	if o["kind"] != "Pod" {
		return out
	}
	spec := without(object.Child(o, "spec"))
	for _, field := range []string{"containers", "initContainers"} {
		var containers []any
		for _, c := range object.Items(spec, field) {
			var env []any
			for _, variable := range object.Items(c, "env") {
				env = append(env, without(variable, "value"))
			}
			c = without(c, "command", "args")
			c["env"] = env
			containers = append(containers, c)
		}
		spec[field] = containers
	}
	out["spec"] = spec
	return out
}

// without returns a shallow copy of a map without some keys.
func without(m map[string]any, names ...string) map[string]any {
	out := map[string]any{}
	for name, v := range m {
		if !slices.Contains(names, name) {
			out[name] = v
		}
	}
	return out
}

package kinds

import (
	structuralpruning "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Pruned returns an object without the fields that the schema of a version does not have, as the API server reads it from its store. The
// object does not change.
func (s *CustomSchema) Pruned(version string, obj map[string]any) map[string]any {
	structural := s.Parsed(version).Structural
	if structural == nil {
		return obj
	}
	out, _ := object.Copy(obj).(map[string]any)
	structuralpruning.Prune(out, structural, true)
	return out
}

// Lost lists what another definition of the kind takes from its objects: the served versions that it does not serve, and the fields of the
// others that it does not have. An item of a list or a map is written as [*].
func (s *CustomSchema) Lost(next *CustomSchema) (lost []string) {
	for _, name := range object.SortedKeys(s.versions) {
		before, after := s.versions[name], next.versions[name]
		switch {
		case !before.served:
		case !after.served:
			lost = append(lost, "version "+name)
		default:
			for _, path := range lostFields(before.schema, after.schema, "") {
				lost = append(lost, path+" of "+name)
			}
		}
	}
	return lost
}

// lostFields lists the fields that a schema names and that the API server drops by another schema.
func lostFields(before, after map[string]any, path string) (lost []string) {
	if isPreserving(after) {
		return nil
	}
	properties, values := object.Child(after, "properties"), object.Child(after, "additionalProperties")
	for _, name := range object.SortedKeys(object.Child(before, "properties")) {
		if path == "" && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue
		}
		below := object.Child(properties, name)
		if below == nil {
			below = values
		}
		inside := name // which may begin with a dot
		if path != "" {
			inside = path + "." + name
		}
		if below == nil && after["additionalProperties"] != true {
			lost = append(lost, inside)
			continue
		}
		lost = append(lost, lostFields(object.Child(object.Child(before, "properties"), name), below, inside)...)
	}
	for _, key := range []string{"additionalProperties", "items"} {
		if next := object.Child(after, key); next != nil {
			lost = append(lost, lostFields(object.Child(before, key), next, path+"[*]")...)
		}
	}
	return lost
}

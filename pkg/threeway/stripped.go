package threeway

import (
	"maps"

	"github.com/helmdrift/helmdrift/internal/secret"
)

// StripServerFields returns a live object in the form in which it could be created again: without its identity, its status, the metadata
// that the API server maintains, and the annotations in which tools store whole objects, which may be Secrets. It does not change object.
func StripServerFields(object map[string]any) map[string]any {
	bare := maps.Clone(object)
	delete(bare, "status")
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return bare
	}
	metadata = maps.Clone(metadata)
	for _, field := range []string{"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"} {
		delete(metadata, field)
	}
	if annotations, ok := metadata["annotations"].(map[string]any); ok {
		annotations = maps.Clone(annotations)
		maps.DeleteFunc(annotations, func(name string, _ any) bool { return secret.EmbedsObject(name) })
		metadata["annotations"] = annotations
		if len(annotations) == 0 {
			delete(metadata, "annotations")
		}
	}
	bare["metadata"] = metadata
	return bare
}

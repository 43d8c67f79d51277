// Package object has the words in which the rest of the program speaks of Kubernetes objects and of places in them. It knows
// neither Helm's merge rules nor the API's schemas, and it has no client.
//
//	Key, Ref        which object: group, kind, namespace and name, and for a request the version
//	Object          an object of a manifest, with its content
//	Path, Step      which place: for people, for comparison with live, and for rules
//	Pointer         the same place in one particular text, as a JSON pointer has it
//	Null, …         the three kinds of null that a normal form tells apart
//
// A value is what JSON decodes to: map[string]any, []any, string, bool, int64, float64 or nil. Integers are int64, as the API's own
// decoder makes them.
//
// # Path and Pointer
//
// A [Path] names list items by their list-map keys, so it means the same item in old, desired and live, wherever each has it:
//
//	spec.template.spec.containers[name=web].image
//
// A [Pointer] leads through indexes, so it belongs to one text:
//
//	/spec/template/spec/containers/1/image
//
// [Path.Pointer] looks the way up in a text. Neither is ever parsed from the text of a path: two places are the same if their paths
// are equal ([Path.Equal]).
package object

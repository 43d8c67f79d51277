// Package object has the types that identify Kubernetes objects and places in them, and the operations on decoded values. It knows
// neither Helm's merge rules nor the API's schemas, and it has no client.
//
//	Key, Ref        an object: group, kind, namespace and name, and for a request the version
//	Object          an object of a manifest, with its content
//	Path, Step      a place: for people, for comparison with live, and for rules
//	Pointer         the same place in one particular text, as a JSON pointer
//	FieldTree       values at places that a table names
//	Null, …         the three kinds of null that a normal form distinguishes
//
// A value is what JSON decodes to: map[string]any, []any, string, bool, int64, float64 or nil. Integers are int64, as in the API's
// own decoder. [Equal] compares values, [Copy] copies them, and [Child], [Field] and [Items] read them.
//
// # Path and Pointer
//
// A [Path] names list items by their list-map keys, so it means the same item in old, desired and live, at whatever index each has it:
//
//	spec.template.spec.containers[name=web].image
//
// A [Pointer] names list items by their indexes, so it belongs to one text:
//
//	/spec/template/spec/containers/1/image
//
// [Path.Pointer] finds the pointer of a path in a text. The text of a path or pointer is never parsed: two paths lead to the same place
// if they are equal ([Path.Equal]).
package object

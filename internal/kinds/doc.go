// Package kinds knows what the Kubernetes API knows about a value: which fields a kind has, their defaults, how the items of its lists
// are named, and what the API server leaves out when it stores the value. With that it brings the texts of one object to a normal form,
// so that they can be compared leaf by leaf.
//
//	Go type of a native kind ────► Catalog.Shape ─┐
//	CustomResourceDefinition ─► CustomSchema.Shape ┴► Shape ─► Normalizer
//	                                                               │
//	text of a manifest, live object ───────────────────────────────┴► State: the normal form, and what the manifest names
//
// # The normal form
//
// A release that nobody touched must have no finding, although the texts of its manifests and of the live objects always differ. In normal
// form they are equal:
//
//   - Quantities, times and base64 are canonical (scalars.go).
//   - What the server prunes is left out, and so are the zero values that it does not write (normal_form.go).
//   - The stringData of a Secret is in its data, and a Pod has no tolerations that admission added.
//   - A Service without an address has no internal traffic policy, which the server stores, but does not return.
//   - Every side has the API's defaults: from a table that is generated from Kubernetes (defaults.json), and by rules for those that
//     depend on a sibling (defaults.go lists them).
//   - If two spellings mean the same and the server keeps what was written, a manifest takes live's spelling (spelling.go).
//   - A null of a manifest is kept as a mark of its own, because what it becomes depends on the write (nulls.go).
//
// # Sources
//
// Go types and conversions: k8s.io/api v0.37. The types of server-side apply, with their list-map keys: k8s.io/client-go v0.37
// applyconfigurations, kept in apply_schema.gob. Defaults: k8s.io/kubernetes v1.36.3 pkg/apis/*/*/defaults.go; a test compares the defaults
// of generated objects with it. Custom resources: k8s.io/apiextensions-apiserver v0.36.3 pkg/apiserver/schema.
package kinds

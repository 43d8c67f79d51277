// Package kinds has what the Kubernetes API knows of a value: which fields a kind has, which defaults belong to it, how the items of its
// lists are named, what the API server leaves out when it stores it. With that it brings texts of one object to one normal form, so that
// two of them can be compared leaf by leaf.
//
//	Go type of a native kind ────► Catalog.Shape ─┐
//	CustomResourceDefinition ─► CustomSchema.Shape ┴► Shape ─► Normalizer
//	                                                            │
//	text of a manifest, live object ────────────────────────────┴► State (normal form, and what the manifest names)
//
// # The normal form
//
// A release that nobody touched has no finding although its manifests and the live objects are never the same texts. The normal form
// makes them the same: canonical quantities, times and base64; without what the server prunes, and without zero values that it does not
// write; stringData folded into data; and with the API's defaults on every side. The defaults of native kinds are a generated table
// (defaults.json), and rules for those that depend on a sibling (defaults_rules.go and the files beside it). Where two spellings mean
// the same and the server keeps what was written, a manifest takes live's spelling.
//
// # Sources
//
// Go types and conversions: k8s.io/api v0.37. List-map keys: k8s.io/client-go v0.37 applyconfigurations. Defaults: k8s.io/kubernetes v1.36.3
// pkg/apis/*/*/defaults.go, against which a test compares them on generated objects. Custom resources: k8s.io/apiextensions-apiserver v0.36.3
// pkg/apiserver/schema.
package kinds

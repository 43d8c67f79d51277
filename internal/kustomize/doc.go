// Package kustomize makes patches of kustomize for changes of objects, and applies a kustomization to a manifest with kustomize's own
// library. It knows no cluster and no chart.
//
//	object of the manifest, paths with the values of live ─┬► Strategic ─┐
//	                                                       └► JSON ──────┴► report.KustomizePatch
//	manifest, report.Kustomization ─► Apply ─► the manifest that a post-renderer with these patches prints
//
// A strategic merge patch names the items of a list by their keys, so it stays right when the chart adds or moves items. It is preferred.
// A JSON patch (RFC 6902) names them by their indexes, and each index comes with a test operation: where the item is another one,
// kustomize fails and changes nothing. JSON is for what a strategic merge patch cannot say: an item of a list without keys, as the lists of
// custom resources are to kustomize.
//
// Neither function knows every rule of kustomize. The caller applies what they return and compares, which decides.
package kustomize

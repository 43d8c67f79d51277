// Package kustomize turns changes of objects into patches of kustomize, and applies a kustomization to a manifest with kustomize's
// own library. It knows no cluster and no chart.
//
//	object of the manifest, paths with the values of live ─┬► Strategic ─┐
//	                                                       └► JSON ──────┴► absorption.KustomizePatch
//	manifest, absorption.Kustomization ─► Apply ─► the manifest that a post-renderer with these patches prints
//
// A strategic merge patch is preferred. It names the items of a list by their keys, so it stays right when the chart adds or moves items.
// A JSON patch (RFC 6902) names them by their indexes, with a test operation for each index: if another item is there, kustomize fails and
// changes nothing. A JSON patch is for what a strategic merge patch cannot say: an item of a list without keys. To kustomize, the lists of
// custom resources have no keys.
//
// Neither function knows every rule of kustomize. The caller applies each patch and compares the result.
//
// # Tests
//
// The test beside this file has each kind of change in both forms; TestPatches of internal/absorb runs the files of its testdata/patches,
// where a chart is rendered and the patches are chosen and proved.
package kustomize

// Package api has the objects of Flux that decide what its controllers do, and the values that a HelmRelease composes. It knows no working
// tree and decides nothing.
//
//	the cluster, or a working tree over it ─► Reader ─► Read ─► HelmRelease ─► Compose ─► Composition ─► Digest
//	                                              └──── ConfigMaps, Secrets ─────┘
//
// [HelmRelease.Compose] puts spec.valuesFrom and spec.values together as helm-controller does, and [Digest] is the digest that its status
// has of them. Values that are not known are the text unknown.Text; the Composition names them.
//
// Every text of a Secret that spec.valuesFrom names is in Composition.Learned, under the key that it has in the values, so that a caller
// makes it a known secret.
//
// The tests of this folder have tables of the composition. TestComposition in test/gitops compares it with the function that
// helm-controller calls.
package api

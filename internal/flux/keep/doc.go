// Package keep changes the values of a HelmRelease where a working tree has them, so that Flux composes other values.
//
//	edits of the composed values ─► Keeper.Rewrite: the layer, file and document of each value ─► the changed files
//	                                                                                                   └► Keeper.Prove: the tree built again
//
// absorb searches the edits. A [Keeper] makes them in the working tree where the values live (places.go), and proves that Flux then
// composes what the search rendered. It writes no file and refuses what it cannot prove. It reads in this process only files that a child
// has built before.
//
// The cases of its tests are in testdata/places.
package keep

// Package kustomize builds a folder of a working tree with kustomize, for what Flux and Argo CD make of it. It belongs to no guest.
//
//	folder ─► Open ─► Tree: files and folders ─► Files: what kustomize may read ─► Files.Run ─► objects
//	address of a base ─► Fetcher ─► another Tree, at a path of the first ──┘
//
// The caller writes the kustomization.yaml of the folder first ([Files.Written]), with what its controller changes in it.
//
// # A tree is foreign text
//
// Somebody who opens a pull request writes the tree, so a caller builds in a child process within limits. Files starts no program, opens
// no connection and writes no file. Kustomize would fetch a remote base with git or HTTP whatever its file system says, so each
// kustomization is checked before kustomize sees it. Files come through os.Root. Sizes, depths and counts have limits (limits.go).
//
// A caller may fetch remote bases ([Bases]), by a [Fetcher] in the parent process. A base becomes a folder beside the tree, so kustomize
// does not see its address.
//
// Source-controller leaves out symbolic links, so a tree of Flux has none, and a path through one is refused. Argo CD follows them, and so
// does its tree, but only within the tree and into no hidden folder. Nothing in a folder .git is read.
//
// # Tests
//
// The tests of internal/flux/tree build hostile trees, and TestTrees in test/gitops compares random trees with what the libraries of
// kustomize-controller make of them.
package kustomize

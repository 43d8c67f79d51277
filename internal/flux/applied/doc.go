// Package applied lays a working tree over the cluster: its objects are as they are after kustomize-controller has applied them.
//
//	working tree ─► Build, in a child process ─► the objects of a commit ─┐
//	                                                                      ├─► New ─► Tree ─► Tree.Over
//	the cluster ─► the live objects ──────────────────────────────────────┘
//
// The Kustomization that builds the tree may be in the cluster alone (root.go). An object of the tree keeps the fields that somebody else
// set (apply.go), and those that spec.ignore of its Kustomization leaves to others (ignored.go). What the tree makes no longer is gone where
// Flux prunes it (drop.go). An [Overlay] answers for these objects and asks the cluster for all others, so nothing else knows where an
// object comes from.
//
// Whoever proposes a tree is not trusted: a source gets no credentials that it does not have in the cluster, and charts look up no Secrets.
//
// [Order] reads the flags about a tree, and internal/flux/tree builds it.
package applied

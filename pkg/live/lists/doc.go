// Package lists reads long lists from a cluster, which a comparison of one release does not need.
//
//	ReadPage    a page of the objects of a kind, of all namespaces or of one: for releases that share lists
//	Namespaces  the names of all namespaces
//	Pods        the pods and events of a namespace and the logs of containers, for a wait
//
// A server may send pages without an end; then the error is [ErrEndless].
//
// The tests beside this file use the fake API server of internal/livetest; internal/sweep tests ReadPage.
package lists

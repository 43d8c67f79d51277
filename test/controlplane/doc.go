// Package controlplane starts a real Kubernetes control plane on loopback for
// tests and the demo: etcd, kube-apiserver, and on request
// kube-controller-manager and a fake node that makes pods look alive.
//
// Nothing is downloaded except Go modules. The servers are the tiny mains
// under cmd, compiled once into a cache outside the source tree; the cache key
// holds the Kubernetes version, the platform and a hash of what is compiled.
// This package itself imports only the standard library, so that the launcher
// (cmd/controlplane) compiles in a second.
//
// The end-to-end module links another Kubernetes version and therefore drives
// the launcher as a process:
//
//	controlplane build                  # once, does nothing when cached
//	controlplane start --controllers    # detached; prints export KUBECONFIG=…
//	controlplane stop
//	controlplane start --foreground     # prints one JSON line, ends with stdin
//
// Every process is a child with its own log in the plane's directory. Children
// die with a foreground launcher, even a killed one (Linux). A detached plane
// is ended by its recorded process ids, and only after a look at each command
// line: it must name the plane's directory.
package controlplane

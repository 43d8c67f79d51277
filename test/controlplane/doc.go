// Package controlplane starts a real Kubernetes control plane on loopback for tests and the demo: etcd, kube-apiserver, and on request
// kube-controller-manager, kube-scheduler and fake nodes that make pods look alive.
//
//	sources ─► Builder.Build ─► binaries in the cache ─► Start ─► Plane: kubeconfig, folder, processes
//	                                                                │
//	                              Load, in another process ─────────┴─► Stop
//
// Nothing is downloaded except Go modules. The servers are small mains under cmd, compiled once into a cache outside the source tree. The
// cache key has the Kubernetes version, the platform and a hash of the sources. This package imports only the standard library, so the
// launcher (cmd/controlplane) compiles in a second.
//
// Each server is a program of its own. Linking the four as one takes 7 seconds of processor time instead of 17, once, of the 37 minutes of
// a cold "make test". But then each etcd takes 105 MB instead of 23 MB, and 0.1 s to start.
//
// The end-to-end module links another Kubernetes version and therefore runs the launcher as a process:
//
//	controlplane build                  # once, does nothing when cached
//	controlplane start --controllers    # detached; prints export KUBECONFIG=…
//	controlplane stop
//	controlplane start --foreground     # prints one JSON line, ends with stdin
//
// A launcher in the foreground takes commands on its standard input, and answers each with a line of JSON:
//
//	kill kube-apiserver                 # SIGKILL; {} when the process is gone
//	restart kube-apiserver              # {} when it is ready again
//
// Every process is a child with a log of its own in the plane's directory. Children die with a launcher in the foreground, even if it is
// killed (Linux). A detached plane is stopped by its recorded process ids. A process is only ended if its command line names the plane's
// directory.
package controlplane

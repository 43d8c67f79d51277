// Package cluster has the plain values that pass between a comparison and the cluster: the object that was read, the write that Helm would
// send for it, and the API server's answer to a dry run of that write. It has no client: pkg/live reads and writes, pkg/snapshot saves
// what was read, and pkg/threeway compares.
package cluster

// Package sweep reads the objects of many releases with lists that they share. It is a part of the guest pkg/fleet, and the only one that
// knows that a cluster can be read in order.
//
//	releases in the order of their namespaces ─► Window ─► Sweep.Read ─► live.Cluster.ReadFrom ─┬► a shared list, page by page ─► objects
//	                                                                                            └► by name: what the lists do not have
//	all objects of the lists ─► the function of Watch
//
// The tests run against a fake API server, which counts requests: internal/livetest.
package sweep

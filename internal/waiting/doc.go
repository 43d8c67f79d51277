// Package waiting is --wait of a fix: it waits until what the fix wrote is ready, and shows the user how far that is. It belongs to the
// guest pkg/rollout, which waits and finds out why an object does not come up.
//
//	the objects that were written ─► rollout.Wait ─► states ─┬─► a line for each workload on a terminal
//	                                                         ├─► each problem as soon as it is known
//	                                                         └─► the outcomes of the fix
//
// The tests run the command: cmd/helmdrift/fix_wait_test.go, and test/e2e/rollout_test.go on a cluster.
package waiting

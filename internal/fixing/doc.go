// Package fixing has the steps of a fix after the comparison. pkg/repair makes the plan and writes it. This package asks what only the user
// can answer (is this the right release, namespace and plan?) and prints each step:
//
//	plan ─► show ─┬─► nothing to do, or --dry-run=client ───────────────────────────► finish
//	              ├─► --dry-run=server: the API server tries the writes ────────────► finish
//	              └─► ask ─┬─► no ──────────────────────────────────────────────────► finish
//	                       └─► yes, or --yes ─► backup ─► write ─► compare again ─┬─► finish
//	                                                                              └─► --wait ─► compare again ─► finish
//
// [Flags] are those of fix, which diff --fix shares, and cmd/helmdrift makes a [Run] of them and of a comparison. A [Waiter] is what --wait
// does, which is a guest.
//
// pick.go is --patch, and backup.go is --backup. The cases of its tests run the commands: testdata/script of cmd/helmdrift.
package fixing

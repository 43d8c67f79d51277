// Package repair puts back what drifted in a release, and nothing else.
//
//	Comparison ─► New ─► Plan ──► Patch(live) ─► JSON patch of values ──┐
//	(drift)        │      │                                             ├─► Run ─► outcomes ─► Confirmed(Comparison afterwards)
//	selectors ─────┘      │       HandOver(live) ─► JSON patch of ──────┘    │          │
//	                      │                         managedFields         Writer        │
//	                      └─► Result, masked ◄──────────────────────────────────────────┘
//
// A program that has compared a release with pkg/drift begins like this:
//
//	plan, err := repair.New(result.Comparison, repair.Options{})
//	fmt.Println(plan.Result(threeway.Mask{}, nil).Plan) // what would be written
//	outcomes := plan.Run(ctx, cluster, repair.RunOptions{Before: result.CheckUnchanged})
//	after, err := comparer.Compare(ctx, target)
//	outcomes = plan.Confirmed(outcomes, after.Comparison)
//
// # Plan
//
// [New] turns each drifted finding of a comparison into a [Change], or into a [Declined] with the reason. New sends nothing, and plans
// only what the API server would store. If changes do not fit together, it looks for one to leave out. Two kinds of change do more than
// set old's value: a list item with edited keys is renamed and not added a second time, and an atomic value of a server-side apply is put
// back as a whole.
//
// # Patch
//
// [ObjectPlan.Patch] builds the repaired object first: a copy of live with the planned fields, and nothing else, as the manifest has
// them. The patch leads from live to that object. JSON patch is the only patch type that means the same for every kind, and the only one
// with tests. Before every operation, the patch tests everything that the operation depends on: the uid, the value that the plan saw,
// the keys of the list items on its path. If somebody writes between the read and the patch, the API server itself refuses the whole
// patch.
//
// In a server-side release, [owners.Repairer] writes the values, and [ObjectPlan.HandOver] then hands their ownership to the
// deployer. Otherwise the next upgrade would conflict with the repair. A forced apply would do both at once, but would also take
// every other field of the manifest from whoever has written it since.
//
// # Run
//
// [Plan.Run] works on one object after the other. Each attempt reads the object again, and writes what is still missing:
//
//	get ─► Patch ─► write ─► Patch, of the answer: nothing left ─► HandOver ─► write ─► fixed
//	 ▲       │        │
//	 │       │        └─ conflict, timeout, no answer: pause
//	 │       └─ a planned field has another value, another uid: declined
//	 └───────────────────────────────── again, until the timeout
//
// # Confirm
//
// A controller that writes the drift back does so a moment later, when Run has already seen the value in place. So the caller
// compares the release once more, and [Plan.Confirmed] declines what has drifted again.
//
// # What a fix promises
//
//   - It writes planned fields only. A field that a rule ignores, that nobody selected or that somebody else added keeps its value.
//   - It overwrites nothing that it has not seen. Whoever writes a planned field after the plan keeps what they wrote.
//   - It writes a value once. If the value does not stay, the object is declined: two writers who fight help nobody.
//   - It is safe to break off at any point and to run again. Ownership that an earlier run left behind is handed over by the next.
//   - An object that fails costs no other object.
//   - Values leave the package through [Writer] only. What [Plan.Result] returns is masked, and reasons are scrubbed.
//
// # Sources
//
// RFC 6902 (JSON Patch) and RFC 6901 (JSON Pointer). k8s.io/apiserver v0.37.1: pkg/endpoints/handlers/patch.go (jsonPatcher) for the
// answers to a patch, pkg/registry/generic/registry/store.go (Update) for an apply that must create, pkg/endpoints/handlers/rest.go
// (requestTimeoutUpperBound) for the time limit. structured-merge-diff v6.4.2 fieldpath for the sets in managedFields. docs/fix.md
// describes the behaviour for users.
//
// This package knows no client, flag or colour.
package repair

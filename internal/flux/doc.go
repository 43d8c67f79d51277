// Package flux says what Flux does next with the release of a HelmRelease, and what to compare for that. It is a guest: it imports the
// core, and only cmd/helmdrift knows it.
//
//	HelmRelease ─┬► compose: ConfigMaps, Secrets, values ─► the values ─────────┬─► digest ─┐
//	             ├► offer: HelmRepository, OCIRepository, HelmChart ─► the chart ┤─ version ─┤
//	             ├► waits: dependencies and sources that are not ready           │           │
//	             └► status.history, the records of Helm ─────────────────────────┼───────────┴► decide ─► Deployer
//	                                                                             ▼
//	                                           the target and the options of a comparison: Plan.Target, Plan.Adapt
//
// [New] reads all of that and returns a [Plan]. The caller compares its target, and [Plan.Finish] adds the decision to the report. It names
// what cannot be predicted as an error of the report, so that such a report is never clean.
//
// [Fleet.Compare] does that for many HelmReleases, which share the charts that they fetch, the lists of the objects of Flux and of the records
// of Helm, and child processes. Records are listed once more at the end: a release that somebody deployed meanwhile is compared again. [Next] only says what Flux makes of a fix.
//
// # Before a merge
//
//	working tree ─► BuildTree, in a child process ─► the objects of a commit ─┐
//	                                                                          ├─► NewTree ─► overlay ─► the same as above
//	the cluster ─► the live objects ──────────────────────────────────────────┘
//
// A [Tree] has the objects as they are after kustomize-controller has applied them: fields that somebody else set stay. The overlay answers
// for them and asks the cluster for all others, so nothing else knows where an object comes from. Values that are not known are the text
// tree.Unknown, and fields that have it are of class unknown.
//
// A chart in a GitRepository comes from the commit that source-controller has (commit.go).
//
// The chart is foreign text. [PrepareChart] and [PostRender] read it, so a caller runs them in a child process within limits.
//
// # To keep what drifted
//
//	edits of the composed values ─► Keeper.Rewrite: in which layer, file and document each value lives ─► the changed files
//	                                                                                                   └► Keeper.Prove: the tree built again
//
// absorb searches the edits. A [Keeper] makes them in the working tree where the values live, and proves that Flux then composes what the
// search rendered. It writes no file and refuses what it cannot prove. It reads in this process only files that a child has built before.
//
// # Secrets
//
// Every text of a Secret that spec.valuesFrom names becomes a known secret, under the key that it has in the values. Credentials of a
// source are used only if the caller asks for it, and only for the scheme, the host and the port of the source.
//
// # Tests
//
// The files of this folder test the composition, the decision and, in testdata/places, the places of values. test/gitops compares the
// composition with the function of helm-controller, and TestFlux in test/e2e the decision with what the controllers do, also for random
// edits. The stories flux-next, flux-from and flux-absorb have no controllers, so make test runs them; TestRights takes away each right
// that they need.
package flux

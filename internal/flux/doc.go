// Package flux says what Flux does next with the release of a HelmRelease, and what to compare for that. It is a guest: it imports the
// core, and only cmd/helmdrift knows it.
//
//	HelmRelease ─┬► Compose: ConfigMaps, Secrets, values ─► the values ─────────┬─► digest ─┐
//	             ├► offer: HelmRepository, OCIRepository, HelmChart ─► the chart ┤─ version ─┤
//	             ├► waits: dependencies and sources that are not ready           │           │
//	             └► status.history, the records of Helm ─────────────────────────┼───────────┴► decide ─► Deployer
//	                                                                             ▼
//	                                           the target and the options of a comparison: Plan.Target, Plan.Adapt
//
// [New] reads all of that and returns a [Plan]. The caller compares its target, and [Plan.Finish] adds the decision to the report. It names
// what cannot be predicted as an error of the report, so that such a report is never clean.
//
// [Fleet.Compare] does that for many HelmReleases, which share the charts that they fetch, the lists of the objects of Flux and of the
// records of Helm, and child processes. Records are listed once more at the end: a release that somebody deployed meanwhile is compared
// again. [Next] only says what Flux makes of a fix.
//
// # The parts
//
//	tree ─► applied: the tree over the cluster ─┬─► flux: what to compare, and what Flux does next
//	api: HelmRelease, values ───────────────────┴─► keep: edits of the values in the tree, for absorb
//
// Package tree builds a working tree, in a child process. Package api has the objects of Flux and composes values; applied and keep import
// it, too. Nothing here knows whether an object comes from the cluster or from a tree. Values that are not known are the text unknown.Text,
// and fields that have it are of class unknown.
//
// A chart in a GitRepository comes from the commit that source-controller has (commit.go), or from the ref that a tree names if it changes
// that. One in a Bucket comes from the objects that are there now (bucket.go), with a warning if they are others than source-controller
// has. Package bucket lists and fetches them.
//
// The chart is foreign text. [PrepareChart] and [PostRender] read it, so a caller runs them in a child process within limits.
//
// # Secrets
//
// Every text of a Secret that spec.valuesFrom names becomes a known secret, under the key that it has in the values. Credentials of a
// source are used only if the caller asks for it, and only for the scheme, the host and the port of the source.
//
// # Tests
//
// The files of this folder test the decision and the chart. TestFlux in test/e2e compares the decision with what the controllers do, also
// for random edits. The stories flux-next, flux-bucket, flux-from and flux-absorb have no controllers, so make test runs them; TestRights
// takes away each right that they need.
package flux

// Package threeway compares what Helm deployed (old), what it would deploy (desired) and what the cluster holds (live), and predicts what
// the next upgrade does to every object and field. It is pure: it uses no client and does not change its input.
//
//	Input (old, desired, live, rules) ─► Compare
//	    pairs       match old and desired by group, kind, namespace and name
//	    object      find live, and compare the object by itself
//	    decide      what Helm does with the object: create, adopt, update, delete, keep, convert …
//	    fields      internal/engine: live after Helm's write; internal/kinds: normal forms; internal/verdict: a finding per field
//	    refuse      internal/apiserver: what the server would reject
//	    outcome     what becomes of each object, from all decisions: which ones Helm does not process because another one fails
//	 ─► Comparison (every value in clear) ─► Report (masked)
//	                                     └─► Requests, Verify (compares a dry run with the prediction)
//
// Programs use pkg/drift, which reads the whole input and calls this package. Without pkg/drift, this package compares objects in
// memory, as the example of [Compare] does:
//
//	comparison := threeway.Compare(threeway.Input{
//		Name: "web", Namespace: "prod", StorageNamespace: "prod", Operation: report.OperationDrift, ApplyMethod: "client-side",
//		OldObjects: objects, DesiredObjects: objects, // of render.Parse
//		Live: cluster.Read(ctx, refs),
//	})
//	release := comparison.Report(threeway.Mask{})
//
// A [Comparison] never leaves the process. Output formats show only what [Comparison.Report] returns.
//
// # Two questions
//
// Does live differ from old? That is drift. What does the upgrade do? That is the verdict. They are independent: Helm 3 does not change a
// custom resource that drifted. So each finding has both. The cause names what differs from old (drift: live; change: the chart or its
// values; both). The verdict names what Helm does (add, remove, overwrite, ignore, conflict).
//
// # Whole objects
//
// What Helm does with an object as a whole depends on the operation. With --force it replaces instead of patching. An upgrade checks who
// owns an object that is live and that old lacks (decide.go). A rollback does not check, and uses live instead of old there, so that it
// removes what its target does not name (decide.go). An install has no old: it creates or adopts everything (outcome.go has its failures).
// If an object moves to another API group and stays the same object, the upgrade updates it and then deletes it (versions.go).
//
// # What more could be read
//
// [Comparison.Needs] lists what would make the answer better: the definition of a custom resource that differs, an autoscaler where
// replicas differ. The caller reads it and compares again.
//
// # Dry runs
//
// [Comparison.Requests] are the writes that Helm would send, computed by the same code as the prediction. [Comparison.Verify] returns the
// comparison with what the API server answers to a dry run of them. If the server disagrees with a certain verdict, the prediction is
// wrong, and the report says so.
//
// # Sources
//
// What Helm does: helm v3.22.0 pkg/kube/client.go (update: order, failures, deletions), pkg/kube/resource.go (how objects are matched),
// pkg/action/validate.go (adoption, ownership metadata), pkg/action/install.go and rollback.go (what they do otherwise).
package threeway

// Package threeway compares what Helm deployed (old), what it would deploy (desired) and what the cluster holds (live), and says what the
// next upgrade does to every object and field. It is pure: it reads nothing, knows no client and changes none of its input.
//
//	Input (old, desired, live, rules) ─► Compare
//	    pairs       match old and desired by group, kind, namespace and name
//	    decide      what Helm does with the object: create, adopt, update, delete, keep, convert …
//	    fields      internal/engine: live after Helm's write; internal/kinds: normal forms; internal/verdict: a finding per field
//	    refuse      internal/apiserver: what the server would refuse
//	    failure     which failure reaches furthest, and what it keeps Helm from doing to the others
//	 ─► Comparison (every value in clear) ─► Report (masked)
//	                                     └─► Requests, Verify (what a dry run says of the prediction)
//
// A [Comparison] never leaves the process. [Comparison.Report] is the only way from there to what output formats show.
//
// # Two questions
//
// Has live left old? That is drift. What does the upgrade do? That is the verdict. They are different: Helm 3 leaves a custom resource
// that drifted as it is. So each finding has both: a cause, which says who moved away from old (drift: live; change: the chart or its
// values; both), and a verdict, which says what Helm does (add, remove, overwrite, ignore, conflict).
//
// # Whole objects
//
// What Helm does with an object as a whole depends on the operation. With --force it replaces instead of patching. An upgrade asks who
// owns an object that it finds and old does not have (actions.go). A rollback does not ask and takes live for old there, so that it takes
// away what its target does not name (rollback.go). An install has no old: it creates or adopts everything (install.go). An object whose
// kind moves to another API group while it stays the same object is deleted by what was to update it (groupchange.go).
//
// # What more could be read
//
// [Comparison.Needs] names what would make the answer better: the definition of a custom resource that differs, an autoscaler where
// replicas differ. The caller reads it and compares again.
//
// # The server's word
//
// [Comparison.Requests] are the writes that Helm would send, computed by the same code as the prediction. [Comparison.Verify] compares the
// prediction with what the API server answers to a dry run of them. Where the server disagrees with a certain verdict, the prediction has a
// fault, and the report says so.
//
// # Sources
//
// What Helm does: helm v3.22.0 pkg/kube/client.go (update: order, failures, deletions), pkg/kube/resource.go (how objects are matched),
// pkg/action/validate.go (adoption, ownership metadata), pkg/action/install.go and rollback.go (what they do otherwise).
package threeway

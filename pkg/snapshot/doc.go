// Package snapshot saves what a comparison of one release reads, and plays it back without a cluster: the same answers lead to the same
// report. A snapshot is a file that people pass on, so somebody else may have made it.
//
// # The pipeline
//
//	cluster ─► Recorder ─► Compare ───────────► Snapshot() ─► Snapshot ─► Write ─► gzip of JSON
//	           (a drift.Connection that         reads on,          │
//	            keeps each answer)                masks            ▼
//	report ◄── Compare ◄── Player (a drift.Connection) ◄──────── Read   bounds and validates
//
// The example plays a snapshot back. This code makes one:
//
//	recorder := snapshot.NewRecorder(drift.LiveConnection(cluster, "prod-cluster", storage))
//	result, err := drift.New(recorder.Connection(), drift.Options{}).Compare(ctx, drift.Target{Namespace: "prod", Release: "web"})
//	saved, err := recorder.Snapshot(ctx, snapshot.Options{Helmdrift: "my-program", Time: time.Now(), Namespace: "prod", Release: "web"})
//	err = saved.Write(file)
//
// A [Recorder] wraps the connection to a cluster. The comparisons that use it decide what is read; [Recorder.Snapshot] also reads
// what a comparison of the same objects with any chart may need: definitions and OpenAPI documents of custom kinds, autoscalers,
// what the server serves. The types in format.go are the format.
//
// # What is not there
//
// What was not asked for is unknown, which is different from absent. A [Player] answers a question that was never asked with an error
// of code [CodeNotInSnapshot]: about an object that only another chart names, a revision that no comparison needed, a lookup of a
// chart. A report never calls such an object missing, and the exit code is 1. A kind that the server did not serve is the exception,
// because the snapshot lists every served kind.
//
// # Secrets
//
// Unless [Options].IncludeSecrets is set, secrets are replaced by tokens (internal/tokens). Equal secrets have equal tokens
// within a snapshot, so a report without a chart is the same. Compared with a chart, a value that is a token on one side only
// cannot be compared; the report lists it as not compared. These places are masked:
//
//   - objects of the cluster with annotations and managedFields, answers to lookups, lists of objects
//   - the manifests of the records, as documents, and as text for -o diff: without its comments, which may hold anything
//   - the values of the record, without everything that any object announces as secret
//   - messages, without secrets, as in a report
//
// Definitions of custom resources and OpenAPI documents describe values and hold none; they are stored as they are.
//
// # Untrusted files
//
// [Read] bounds the size, the depth and the number of values before it decodes anything, refuses unknown keys and versions, and checks what
// the comparison relies on. Nothing in a snapshot is executed: records have no templates, and a chart is always the caller's own.
package snapshot

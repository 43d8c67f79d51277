// Package apiserver predicts what the API server does with a write: what it drops, what it restores, and what it refuses. Without it,
// a preview would show upgrades that fail as if they succeeded.
//
//	live after Helm's patch ─► ApplyServerRules ─► result: what is stored (values that the type of a Service drops or keeps …)
//	Creation, Update ─► Undecodable, Invalid, Refused ─► the reason why the server refuses the write; empty if no rule here refuses it
//
// # What it predicts
//
//   - Values that do not decode into the type of their field (decoding.go).
//   - Immutable fields: a table for native kinds (immutable_table.go), and the rule self == oldSelf of custom ones.
//   - Fields that contradict each other: members of a union, selectors that do not match, ports of a Service, mounts without a volume.
//   - The schema of custom resources, by the API server's own validators, with their ratcheting.
//   - Nulls and characters that a server-side apply refuses.
//
// # What it does not predict
//
// Admission, quotas and policies of the cluster, and rare rules: docs/verdict-rules.md lists them under "What is not predicted". The
// server itself (--dry-run=server) knows all of them. A new rule needs a real report, or a known share of the mispredictions of the random
// test (CONTRIBUTING.md).
//
// # Sources
//
// Each rule names the function of Kubernetes v1.36.3 (or of apiextensions-apiserver, apimachinery) that implements it. Reasons have the
// server's own words if its libraries can produce them.
package apiserver

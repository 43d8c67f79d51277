// Package apiserver predicts what the API server makes of a write: what it drops, what it gives back, and what it refuses. Without it a
// preview would promise upgrades that fail.
//
//	live after Helm's patch ─► ApplyServerRules ─► result: what is stored (values that a Service's type drops or keeps …)
//	Creation, Update ─► Undecodable, Invalid, Refused ─► the reason why the server refuses the write; empty if no rule here speaks against it
//
// # What it knows
//
//   - Values that do not decode into the type of their field (undecoded.go).
//   - Fields that nobody can change: a table for native kinds (immutable_table.go), and the rule self == oldSelf of custom ones.
//   - Fields that contradict each other: members of a union, selectors that do not select, ports of a Service, mounts without a volume.
//   - The schema of custom resources, by the API server's own validator, with its ratcheting.
//   - Nulls and characters that a server-side apply does not take.
//
// # What it does not know
//
// Admission, quotas and policies of the cluster, and rare rules: docs/verdicts.md lists them under "What is not predicted". Asking the server
// itself (--dry-run=server) answers for all of them. A new rule enters only with a real report or a named share of the mispredictions of
// the random test (CONTRIBUTING.md).
//
// # Sources
//
// Each rule names the function of Kubernetes v1.36.3 (or of apiextensions-apiserver, apimachinery) that has it. Texts are the server's own
// where they can be made by its libraries.
package apiserver

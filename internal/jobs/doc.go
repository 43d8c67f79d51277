// Package jobs works on foreign text within limits of time and memory: it reads manifests and the indexes of repositories, fetches charts
// and renders them.
//
// A template can loop forever or fill the memory, and so can the text of a manifest or of an index. Go cannot stop such work within a
// process, so it is a job for a child process, which can be killed (internal/confine). This package has both ends of each job. The methods
// of [Limits] run in the parent: they send an order and read the answer, and fit the functions of drift.Options. The functions of [All]
// run in the child:
//
//	parent                                                       child
//	Limits.FetchChart ──── index of a repository ──────────────► index
//	Limits.ReadManifest ── manifest of a record ───────────────► manifest
//	Limits.RenderChart ─── chart, values, what is known secret ► chart
//	Limits.RenderVariants ─ the same, and more values each time ► variants
//	      ▲                                                        │
//	      └── file, lookup, post-render, variants: questions ◄─────┘
//
// The child does not have the cluster's credentials, a terminal, or the user's environment. If a rendering needs them, it asks the
// parent. Orders and answers cross a pipe as encoding/gob, so their fields are exported.
//
// The parent works on what a job returns, so a job also refuses what the parent could not compare within the limits.
package jobs

// Package jobs does the work on text that others wrote: it reads manifests and the indexes of repositories, fetches charts and renders them,
// within limits of time and memory.
//
// A template can loop forever or fill the memory, and so can the text of a manifest or of an index. Go cannot stop such work within a
// process, so it is a job of a child process, which can be ended (internal/confine). This package has both ends of each job. The methods of
// [Limits] run in the parent: they send an order and read the answer, and fit the functions of drift.Options. The functions of [All] run in
// the child:
//
//	parent                                                       child
//	Limits.FetchChart ──── index of a repository ──────────────► index
//	Limits.ReadManifest ── manifest of a record ───────────────► manifest
//	Limits.RenderChart ─── chart, values, what is known secret ► chart
//	Limits.RenderVariants ─ the same, and more values each time ► variants
//	      ▲                                                        │
//	      └── file, lookup, post-render, variants: questions ◄─────┘
//
// The child has no credentials of the cluster, no terminal, and not the user's environment. What a rendering needs of these are questions
// to the parent. Orders and answers cross a pipe as encoding/gob, so their fields are exported.
//
// The parent works on what a job returns, so a job also refuses what the parent could not compare within the limits.
package jobs

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
//	Limits.RenderChart ─── chart, values ──────────────────────► chart
//	Limits.RenderVariants ─ the same, and more values each time ► variants
//	RenderPostRendered ─── chart, and an order of a guest ──────► a job of NewPostRendered
//	      ▲                                                        │
//	      └── file, lookup, known, post-render, variants: questions ┘
//
// The child does not have the cluster's credentials, a terminal, the user's environment, or the known secrets. If a rendering needs them,
// it asks the parent. It needs the secrets for the text of an error or for a log, which are rare. Orders and answers cross a pipe as
// encoding/gob, so their fields are exported.
//
// The parent works on what a job returns, so a job also refuses what the parent could not compare within the limits.
//
// The tests beside this file check what crosses the pipe. The jobs themselves run in the tests of cmd/helmdrift, which start real children:
// limits_test.go has texts and charts beyond the limits, and TestChartInAChild what a chart gets from outside.
package jobs

// Package drift compares one release of Helm from end to end: a Target goes in, a Result with its report comes out. It knows no flags and
// writes to no stream; cmd/helmdrift is flags, prompts and exit codes around it.
//
//	cluster, err := live.Connect(ctx, config, live.Options{})
//	comparer := drift.New(drift.LiveConnection(cluster, "prod-cluster", ""), drift.Options{})
//	result, err := comparer.Compare(ctx, drift.Target{Namespace: "prod", Release: "web"})
//	r := report.New("v1", time.Now(), []report.Release{result.Report(threeway.Mask{})})
//
// # The steps
//
// Compare goes through these steps:
//
//	          Connection.Records                Connection.Cluster   Options.Fetch, Options.Render
//	                   │                                 │                     │
//	Target ─► load ─► old objects ─► ignore rules ─► live objects ─► desired objects ─► threeway.Compare ─► unchanged? ─► Result
//	           ▲                                         ▲                                     │                │
//	           │                                         └──────────── Needs, once ────────────┘                │
//	           └─────────────────────────── once more, if the release changed meanwhile ────────────────────────┘
//
// Each of them has its reasons:
//
//   - load reads the release records. The old objects come from them, and so do the desired ones if there is no chart.
//   - The rules of what to ignore come from Options, and from the HelmRelease of Flux if Options.FromFlux is set.
//   - With a chart, all that shows drift is read before the chart is rendered, while the chart is fetched. If the chart fails, the
//     report has the error and the drift.
//   - threeway.Compare is pure. It says what more could be read to improve its answer (the definition of a custom resource, autoscalers);
//     that is read, and the comparison is made again.
//   - Drift that is found while somebody deploys would be wrong. So the records are listed again if anything was found, and if the
//     release changed, everything is done again, once.
//
// # Reading without a cluster
//
// Records and Cluster are interfaces. *release.Store and *live.Cluster implement them, and so can plain data that was saved earlier: the
// same answers give the same report. The example of this package compares two values in memory.
//
// # Foreign text
//
// Charts, manifests and repository indexes are written by others: a template can loop forever or fill the memory, and Go cannot stop it
// within a process. By default this package fetches, renders and reads them in the calling process. Options.Fetch, Options.Render and
// Options.ReadManifest replace that; cmd/helmdrift does this work in a child process with limits of time and memory, and calls
// RenderChart there. Helm's libraries write to the standard logger of the process that renders.
//
// # Secrets
//
// Result.Comparison and Result.Loaded hold values in clear; Result.Report masks them. The errors of Compare are freed of every secret
// that was known when they are read.
//
// # Errors
//
// An error says what went wrong. If there is advice, Hint returns it.
package drift

// Package drift compares one Helm release with its cluster, from reading the records to the report. It is the package to import for a
// program that embeds helmdrift; cmd/helmdrift adds flags, prompts and exit codes to it. It knows no flags, writes to no stream, and sends
// no request but reads, unless [Options].DryRun is set.
//
// A [Connection] says where to read, [Options] say how to compare, a [Target] says what, and [Comparer.Compare] returns a [Result]:
//
//	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
//	cluster, err := live.Connect(ctx, config, live.Options{})
//	storage, err := release.Open(release.Driver{}, cluster.Metadata(), cluster.Dynamic())
//	comparer := drift.New(drift.LiveConnection(cluster, "prod-cluster", storage), drift.Options{})
//	result, err := comparer.Compare(ctx, drift.Target{Namespace: "prod", Release: "web"})
//	r := report.New("v1", time.Now(), []report.Release{result.Report(threeway.Mask{})})
//
// One [Comparer] can compare many releases, also at the same time. The report is plain data with a published JSON schema, and
// r.HasError and the verdicts of its fields are what a program acts on. To put drift back, pass result.Comparison to pkg/repair, and
// result.CheckUnchanged to the run of its plan. To keep it, [Comparer.Absorb] searches for values with which the chart renders what the
// cluster has, and [RewriteValues] puts them into the values file.
//
// # The steps
//
// Compare goes through these steps:
//
//	   Connection.Records                      Connection.Cluster   Options.Fetch, Options.Render
//	           │                                         │                     │
//	Target ─► load ─► old objects ─► ignore rules ─► live objects ─► desired objects ─► threeway.Compare ─► unchanged? ─► Result
//	           ▲                                         ▲                                     │                │
//	           │                                         └──────────── Needs, once ────────────┘                │
//	           └─────────────────────────── once more, if the release changed meanwhile ────────────────────────┘
//
// In detail:
//
//   - load reads the release records (compare.go). The old objects come from them, and so do the desired ones if there is no chart
//     (stored_input.go).
//   - The ignore rules come from Options, and from the HelmRelease of Flux if Options.FromFlux is set (flux.go).
//   - With a chart, everything that shows drift is read before the chart is rendered, while the chart is fetched (chart.go, render.go). If
//     the chart cannot be fetched or rendered, the report has the error and the drift.
//   - threeway.Compare is pure. It says what else could be read to improve its answer: the definitions of custom resources, and
//     autoscalers. That is read, and the comparison is made again (needs.go).
//   - Drift that is found while somebody deploys may be wrong. If anything was found, the records are listed again, and if the release
//     changed, everything is done once more.
//
// # Reading without a cluster
//
// [Records] and [Cluster] are interfaces. *release.Store and *live.Cluster implement them, and so can data that was saved earlier: the same
// answers lead to the same report. The example of this package compares a manifest and a live object in memory.
//
// # Foreign text
//
// Charts, manifests and repository indexes are written by others: a template can loop forever or fill the memory, and Go cannot stop it
// within a process. By default, this package fetches, reads and renders them in the calling process. Options.Fetch, Options.ReadManifest
// and Options.Render replace that. cmd/helmdrift sets them to do the work in a child process with limits of time and memory, where it
// calls [RenderChart]. Helm's libraries write to the standard logger of the process that renders.
//
// # Secrets
//
// Result.Comparison and Result.Loaded hold secret values in clear text; Result.Report masks them. Every secret that is known when the text
// of an error of Compare is read is removed from it. Options.Known has a type of an internal package: other modules leave it nil.
//
// # Errors
//
// [Comparer.Compare] lists those that a program may want to recognize.
//
// An error says what went wrong. If there is advice, [Hint] returns it. [ErrForceConflicts], [ErrForceReplace] and [FluxError] belong to
// options, so that a program can name its own flag or setting instead.
package drift

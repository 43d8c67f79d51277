// Package drift compares one Helm release with its cluster, from reading the records to the report. It is the package to import for a
// program that embeds helmdrift; cmd/helmdrift adds flags, prompts and exit codes to it. It knows no flags, writes to no stream, and sends
// no request but reads, unless [Options].DryRun is set.
//
// A [Connection] says where to read, [Options] say how to compare, a [Target] says what to compare, and [Comparer.Compare] returns
// a [Result]:
//
//	connection, err := drift.Connect(ctx, config)
//	if err != nil {
//		return err
//	}
//	result, err := drift.New(connection, drift.Options{}).Compare(ctx, drift.Target{Namespace: namespace, Release: name})
//	if err != nil {
//		return err
//	}
//	release := result.Masked()
//	fmt.Println(release.Name, release.Drifted, release.HasError())
//
// test/e2e/cmd/embed is a whole program of these lines. One [Comparer] can compare many releases, even at the same time. The release is
// plain data with a published JSON schema. A program acts on its HasError and the verdicts of its fields, and [report.New] makes a report
// of several releases. To put drift back, pass result.Comparison to pkg/repair, and result.CheckUnchanged to the run of its plan.
//
// # The steps
//
// Compare goes through these steps:
//
//	   Connection.Records                      Connection.Cluster   Chart.Fetch, Options.Render
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
//   - The ignore rules come from Options, and from the HelmRelease of Flux if Options.FromFlux is set (rules.go).
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
// Other people write charts, manifests and repository indexes: a template can loop forever or fill the memory, and Go cannot stop it
// within a process. By default, this package reads and renders them in the calling process. Chart.Fetch, Options.ReadManifest and
// Options.Render replace that. cmd/helmdrift sets them to do the work in a child process with limits of time and memory; the child
// calls [RenderChart]. Helm's libraries write to the standard logger of the process that renders.
//
// # Secrets
//
// Result.Comparison and Result.Loaded hold secret values in clear text; Result.Report masks them. The text of an error of Compare lacks
// every secret that is known when the text is read. [Secrets] holds the known secrets.
//
// # Errors
//
// [Comparer.Compare] lists those that a program may want to recognize. Those about options let a program name its own flag or setting. If
// there is advice, [Hint] returns it.
package drift

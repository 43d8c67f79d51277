// Package report is the contract of helmdrift: what every output format shows, and what programs read as JSON. It is pure data. It
// holds no value in clear that must not be shown: [threeway.Comparison.Report] masks before it fills a [Release].
//
//	threeway.Comparison ─► Release ─┐
//	                       Release ─┼─► New ─► Report ─► Accept (what a baseline knows) ─► internal/output
//	                           …   ─┘            └─────► Rules  (what would silence it)
//	repair.Plan, outcomes ──────────────────────────────► FixResult ─► internal/output
//
// # What counts
//
// Whether a finding counts as drift, as silenced or as a write of the next upgrade is decided here and nowhere else:
// [Finding.Drifted], [Finding.Silenced], [Verdict.Writes], [Object.Gone]. Summaries, exit codes, colours and the plan of a fix all ask
// these.
//
// # Compatibility
//
// Within [APIVersion], keys are only ever added. The schema of both documents is in internal/output/schema.
package report

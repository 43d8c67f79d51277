// Package report is the contract of helmdrift: what every output format shows, and what programs read as JSON. It is pure data without
// secrets: threeway.Comparison.Report masks values when it makes a [Release].
//
//	threeway.Comparison ─► Release ─┐
//	                       Release ─┼─► New ─► Report ─► accept.Known: silence what a baseline has ─► internal/output
//	                           …   ─┘            └─────► accept.Rules: the rules that silence it
//	repair.Plan, outcomes ─────────────────────────────► FixResult ─► internal/output
//	records of releases ─► listing.New ────────────────► listing.List ─► internal/output
//
// # What counts
//
// Three questions decide summaries, exit codes, colours and the plan of a fix, and only this package answers them (state.go):
//
//   - Has a field, an object or a release drifted? [Classification.Drifted], [ObjectState.Drifted], [Release.HasDrifted].
//   - Is a finding silenced, so that it is listed and counted as ignored only? [Classification.Silenced].
//   - Does the next upgrade write? [Verdict.Writes], [Action.Writes].
//
// [Release.State] gives the answer for a release in one word, for lists of many releases (state.go).
//
// # Compatibility
//
// Within [APIVersion], keys are only added, and a reader ignores those that it does not know. internal/output/schema/report.schema.json
// is the JSON Schema of all documents ([Report], [FixResult], and those of the packages absorption, listing and past), and
// docs/report-json.md describes each key. Fields with the tag json:"-" are for this program's own formats, and are lost in a saved report.
//
// # Reading one
//
// A program that checks a saved report:
//
//	text, err := os.ReadFile("report.json") // of helmdrift diff -o json
//	r, err := reading.Report(text) // of package pkg/report/reading
//	if r.HasError() {
//		// not everything was compared: what is not listed may have drifted
//	}
//	for _, release := range r.Releases {
//		if release.State() == report.StateDrifted {
//			fields, objects := release.ToPutBack()
//			fmt.Println(release.Name, fields, objects, release.Editors())
//		}
//	}
//
// [Report.Recount] and [Notes.Add] change values. Nothing here is safe for concurrent use with them.
package report

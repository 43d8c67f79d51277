// Package saved finds and reads reports that helmdrift has written into files, as JSON or YAML, for report and history,
// which ask no cluster, and for --baseline.
//
//	files, folders ─► ByTime ─► File, File, … the oldest first, of which only the time is known
//	a file, or - ──► Read ─► report.Report
//	--baseline ────► Baseline ─► report.Report, or nil
//
// The files may come from somebody else; pkg/report bounds and checks what it reads. A file that is no report is an error that names it: an
// empty report would look like one without drift.
package saved

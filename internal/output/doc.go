// Package output writes a report.Report, the report.FixResult of a fix or a listing.List in the format that a reader asked for. Each
// format is a view of the same report. The formats for people and for other tools are packages, and the formats of the report itself are
// files here.
//
//	                ┌─► package text: for people
//	                ├─► package html: a page for a browser, in the words of text
//	Report ─► Write ┼─► package ci: what tools show about a pipeline
//	                ├─► json ─► yaml ─► rules: for programs
//	                ├─► prometheus: metrics
//	                └─► diff: the patches of the manifests; internal/manifestdiff makes them, since a report has no manifest
//
// No format decides anything: verdicts, causes and counts come with the report, and values come masked.
//
// # Hostile text
//
// Whoever may edit a label may write to the reader's terminal and into a CI log. So each format has one escaping function
// (internal/escape), and each name, path, value and message goes through it. The messages that the command prints to stderr go through the
// same function as text. Three rules hold in every format, with and without a terminal:
//
//   - Characters that are not plainly visible (control, bidi, zero width, invalid) appear as escapes.
//   - No line begins with a value, not even behind blanks, because GitHub's runner trims a line before it looks for "::". So continuation
//     lines begin with a gutter, and YAML has no block scalars.
//   - "##vso[" and its kind, which Azure's agent and GitHub's runner obey anywhere in a line, are broken by an escape.
//
// JSON and YAML lose nothing by this: their escapes decode to exactly the value.
package output

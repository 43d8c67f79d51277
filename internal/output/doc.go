// Package output writes a threeway.Report in the format a reader asked for: text for people, JSON and YAML for programs.
//
// Every format is a view of the same Report and lives in a file of its own; the table in format.go is all that joins
// them. Nothing here compares old with live to decide anything: verdicts, causes and counts come with the Report, and
// values come masked. Where text does look at two values together, it is only to choose which part of them to show.
//
// # The rules of the text format
//
// The first line of a release and the last lines of the report carry the answer alone; what stands between is evidence.
//
//	release web in prod: 2 of 42 objects drifted · revision 3 · web-1.2.0 · deployed
//
//	Deployment web: the next upgrade updates it
//	  ± spec.replicas  2 → 5   kubectl (scale), 3 min ago
//
//	2 objects drifted; the next upgrade overwrites 1 field and re-creates 1 object
//
// How it is written:
//
//   - Signs say what Helm will do with a field: + add, - remove, ± overwrite, ∅ ignore, ! conflict
//     (in ASCII: + - ~ = !). Colour repeats a sign or a heading and never says anything of its own.
//   - Values stand as old → live. Where the chart or the values moved anywhere in the object, they stand as
//     old | desired | live. A side without the field is <absent>; what stands in angle brackets is never a value,
//     because a string that begins with one is quoted.
//   - A string is quoted when it could be taken for something else (5, true, nothing at all) or holds what cannot be shown.
//     Anything quoted has escapes; anything unquoted is there to the letter.
//   - On a terminal no line is longer than the terminal is wide: paths lose their beginning, values the part they share and
//     then their end, and prose goes on below, behind a gutter. Below 40 columns we lay out as if there were 40.
//   - Not on a terminal nothing is shortened and a finding is one line, so that grep finds it whole.
//   - What could not be compared is said in the first line, at its object, and in the last line. It never looks clean.
//
// # Hostile text
//
// Whoever may edit a label may write to the reader's terminal and into a CI log, so each format has one escaping
// function (escape.go) and every name, path, value and message goes through it. Three things hold in all formats,
// terminal or not:
//
//   - Characters that are not plainly visible (control, bidi, zero width, invalid) appear as escapes.
//   - No line begins with a value, not even behind blanks: GitHub's runner trims a line before it looks for "::".
//     Continuation lines therefore begin with a gutter, and YAML has no block scalars.
//   - "##vso[" and its kind, which Azure's agent and GitHub's runner obey anywhere in a line, are broken by an escape.
//
// JSON and YAML lose nothing by this: their escapes decode to exactly the value.
package output

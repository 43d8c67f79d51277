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
//	helmdrift fix web -n prod puts back 1 field and 1 object
//
// How it is written:
//
//   - Signs say what Helm will do with a field: + add, - remove, ± overwrite, ∅ ignore, ! conflict
//     (in ASCII: + - ~ = !). Colour repeats a sign or a heading and never says anything of its own.
//   - In a report of drift, values stand as old → live. Where the record itself would change something in the object, they stand
//     as old | desired | live. A side without the field is <absent>; what stands in angle brackets is never a value,
//     because a string that begins with one is quoted.
//   - A string is quoted when it could be taken for something else (5, true, nothing at all) or holds what cannot be shown.
//     Anything quoted has escapes; anything unquoted is there to the letter.
//   - On a terminal no line is longer than the terminal is wide: paths lose their beginning, values the part they share and
//     then their end, and prose goes on below, behind a gutter. Below 40 columns we lay out as if there were 40.
//   - Not on a terminal nothing is shortened and a finding is one line, so that grep finds it whole.
//   - What all notes of an object say alike is said once, above its fields.
//   - What could not be compared is said in the first line, at its object, and in the last line. It never looks clean.
//
// # Previews
//
// Before an upgrade, a rollback or an install, a reader asks four things, in this order: does it fail, which edits does it
// destroy, which stay, and what else does it change. First and last lines answer in that order, and so does each object:
//
//	release web in prod: 1 of 8 objects drifted, the upgrade changes 4 · revision 7 · web-1.8.0 · deployed · against chart web-1.8.1
//
//	in 4 objects:  ± metadata.labels["helm.sh/chart"]  web-1.8.0 → web-1.8.1  2 ConfigMaps, 1 Service, 1 Deployment
//
//	Deployment web: drifted; the upgrade updates it, overwrites 1 drifted field and leaves 1 unmanaged field
//	  drifted:                old      | desired  | live
//	  ∅ spec.minReadySeconds  <absent> | <absent> | 7     kubectl-edit, 2 h ago · unmanaged: stays
//	  ± spec.replicas         2        | 3        | 5     kubectl (scale), 3 min ago
//	  changing:
//	  ± spec.revisionHistoryLimit  5 → 3
//
//	3 objects more: nothing but the changes said above
//
//	1 object drifted; the upgrade overwrites 1 drifted field, leaves 1 unmanaged field and changes 5 fields in 4 objects
//
// Behind it:
//
//   - What drifted stands in three columns, because an arrow would have two meanings there. A change that meets an edit belongs
//     there. What only changes stands as old → desired: nobody touched it, so old is what is live, too. In an adopted object,
//     which has no old, the left side is live.
//   - What a rule or a class silences comes last in its object. The last line counts it.
//   - One change that three or more objects share is one line above the objects. Values and notes must be equal and known: what
//     is masked, drifted, ignored or of a class is never grouped, nor is anything of an object that fails or is adopted.
//   - An object that has nothing else to say gets no block of its own and is counted. So are four or more objects that are not
//     reached; thirteen or more new objects are listed by kind; four or more fields that each rendering makes anew, and three
//     or more objects about which the server could not be asked, share a line. Missing and failing objects, deletions and
//     adoptions are always told in full.
//   - Nothing is dropped: every finding is a line, or counted by one. JSON and YAML list everything.
//   - A deleted object lists what drifted on it: those edits go with it.
//   - Where the operation does not come to an object, or fails on it, changes stand under "would change".
//   - That the server agrees (dry run) is only counted. That it disagrees is said at the object and in first and last lines.
//   - The lines of a message that has several (a template's own error, Helm's hint) stay lines, behind the gutter.
//
// # Fixes
//
// A FixResult is told in two texts, since a reader is asked between them. The plan has the signs, columns and widths of a
// report of drift, but values stand as live → becomes, and a sign says what the fix does, whatever the next upgrade would do:
//
//	release web in prod: fix puts back 1 field and creates 1 object · revision 3 · web-1.2.0 · deployed
//
//	Service web: missing; to be created
//	Deployment web: 1 field to put back
//	  ± spec.replicas  5 → 2  kubectl (scale), 3 min ago
//	left: Job migrate: it may have finished and expired
//
// What became of it follows: a line for each status and reason with the names it is about, and last what is true now. That a
// release "is as Helm deployed it" is only said where it was compared again, and all of it was seen.
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

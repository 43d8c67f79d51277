// Package text writes documents of the report for people: a report, the plan and the result of a fix, a list of releases, and the lines that
// say how far a scan or a roll-out is.
//
//	values ─► lines ─► table ─► section ─► object ─► fold ─► release ─┬───────────► summary, fix
//	          columns ─► found ─► overview, trouble ─┬─► list         │         │
//	                                                 └────────────────┴─► scan ─┘
//	style, english ─► all of them                   phrases: the same words for the page of a browser
//
// A file uses only what stands to the left of it. The package decides nothing: verdicts, causes and counts come with the report, and values
// come masked. It looks at two values together only to choose which part of them to show.
//
// # The rules of reports
//
// The first line of a release and the last lines of the report have the answer. What stands between them is evidence.
//
//	release web in prod: 2 of 42 objects drifted · revision 3 · web-1.2.0 · deployed
//
//	Deployment web: the next upgrade updates it
//	  ± spec.replicas  2 → 5   kubectl (scale), 3 min ago
//
//	2 objects drifted; the next upgrade overwrites 1 field and re-creates 1 object
//	helmdrift fix web -n prod puts back 1 field and creates 1 object
//
// The rules:
//
//   - A sign says what Helm does with a field: + add, - remove, ± overwrite, ∅ ignore, ! conflict (in ASCII: + - ~ = !). Colour repeats a
//     sign or a heading and carries no information of its own.
//   - A report of drift shows values as old → live. If the record itself would change something in an object, it shows
//     old | desired | live. A side without the field is <absent>. Text in angle brackets is never a value, because a string that begins
//     with an angle bracket is quoted.
//   - A string is quoted if it could be taken for something else (5, true, an empty string) or holds characters that cannot be shown.
//     Quoted text has escapes; text without quotes is literal.
//   - On a terminal no line is longer than the terminal is wide. Paths lose their beginning. Values lose the part that they share and then
//     their end. Prose continues below, behind a gutter. On a terminal of fewer than 40 columns text is laid out for 40.
//   - Without a terminal nothing is shortened, and a finding is one line, so that grep finds all of it.
//   - What differs inside a document (a value that is YAML, JSON or the like) stands below its finding, a change on each line, behind the
//     path of the finding if the terminal has room for it.
//   - What the notes of all findings of an object have in common is written once, above its fields.
//   - What could not be compared is named in the first line, at its object, and in the last line. It never looks clean.
//
// # Previews
//
// Before an upgrade, a rollback or an install, readers ask four questions, in this order: does it fail, which edits does it destroy, which
// edits stay, and what else does it change. First and last lines answer in that order, and so does each object:
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
//	3 more objects: nothing but the changes above
//
//	1 object drifted; the upgrade overwrites 1 drifted field, leaves 1 unmanaged field and changes 5 fields in 4 objects
//
// The rules of previews:
//
//   - What drifted stands in three columns, because an arrow would have two meanings. A change that meets an edit stands there too. A field
//     that only changes stands as old → desired: nobody touched it, so live is as old. An adopted object has no old, so its left side is
//     live.
//   - What a class silences stands last in its object. The last line counts it.
//   - A change that three or more objects share is one line above the objects. The values and notes must be equal and known, so a masked
//     value is never grouped; nor is what drifted, is ignored or has a class, or is in an object that fails or is adopted.
//   - An object with nothing else to say has no block of its own and is counted. Four or more objects that are not reached are counted too,
//     13 or more new objects are listed by kind, and a line is shared by four or more fields that each rendering changes and by three or
//     more objects about which the server could not be asked. Missing and failing objects, deletions and adoptions are written in full.
//   - Nothing is dropped: each finding has a line, or a line counts it. JSON and YAML list everything.
//   - A deleted object lists what drifted in it, because those edits are deleted with it.
//   - If the operation does not reach an object, or fails on it, its changes stand under "would change".
//   - If the server agrees (dry run), that is only counted. If it disagrees, the object and first and last lines say so.
//   - The lines of a message with several lines (the error of a template, the hint of Helm) stay lines, behind the gutter.
//
// # Scans
//
// The report of a selection of releases begins with an overview and ends with a tally. What stands between them is what a report of the
// release alone says:
//
//	state    namespace  release  revision  found                            oldest  who
//	error    prod       db                 could not be compared
//	drifted  prod       web      3         2 fields in 1 object, 1 missing  3 d     kubectl, +1
//	clean    prod       cache    12
//
//	error: db in prod on dev: Secret prod/sh.helm.release.v1.db.v7: the record is cut off after 1048576 bytes
//
//	release web in prod on dev: 2 of 42 objects drifted · revision 3 · web-1.2.0 · deployed
//
//	Deployment web: the next upgrade updates it
//	  ± spec.replicas                                  2 → 5                kubectl (scale), 3 min ago
//	  ± spec.template.spec.containers[name=web].image  web:1.25 → web:1.27  kubectl-set, 3 d ago
//	Service web: missing; the next upgrade creates it
//
//	3 releases: 1 drifted, 1 error, 1 clean · 0.4 s
//	not compared: 1 hook
//	2 objects drifted in 1 of 3 releases; the next upgrade overwrites 2 fields and re-creates 1 object
//	the comparison is incomplete: 1 error
//
// The rules of scans:
//
//   - The overview has a line for each release, in the order error, drifted, changed, clean, and by cluster, namespace and name. Changed
//     means that nothing drifted but something was found that is not silenced. Up to ten clean releases are listed; of more, none is.
//   - Oldest and who are about what drifted, or about the other edits if nothing drifted. Managers that people use are named first.
//   - On a narrow terminal, columns give way in this order: revision, record in, who, oldest, found. State and names stay. Names lose their
//     middle. A column that is empty for all releases is not there.
//   - A message is written once for all releases and objects that share it, apart from the names in it.
//   - Only what drifted has details, and only the first 20 releases. With -v every release has a line, and each of which there is more to
//     say has details.
//   - What could not be searched is named in the last lines. It is neither clean nor counted.
//   - The hint about fix is written only if there is one release.
//
// # Lists
//
// A list of releases has the columns of the overview that are known without a comparison, and those of the record:
//
//	namespace  release  revision  status           chart         helm  applied      age
//	prod       cache    12        deployed         redis-20.1.0  4     server-side  42 min
//	prod       db       7         failed           not read                         22 h
//	prod       jobs     2         pending-upgrade  jobs-0.3.0          client-side  40 s
//	prod       web      3         deployed         web-1.2.0     3     client-side  3 d
//
//	error: db in prod on dev: read revision 7 of db from Secret prod/sh.helm.release.v1.db.v7: the record is cut short
//
//	4 releases: 2 deployed, 1 failed, 1 pending-upgrade · 1 could not be read
//	helmdrift diff -n prod compares them
//
// It is ordered by cluster, namespace and name. On a narrow terminal, columns give way in this order: applied, helm, age, chart, revision.
// Messages, and what could not be searched, are written as in a scan.
//
// # Effects
//
// What a write means for pods stands behind the gutter below the line of its object, and the sum of a release below its answer. Phrases come
// with the report; only the age of an earlier restart is written here:
//
//	Deployment web: the next upgrade updates it
//	  │ effect: restarts 3 pods one at a time, 2 stay ready; an edit restarted its pods 2 h ago
//	  ± spec.template.spec.containers[name=web].image  web:1 → web:2  kubectl-set, 2 h ago
//
//	1 object drifted; the next upgrade overwrites 1 field
//	the next upgrade restarts 3 pods in 1 workload
//
// Of several releases the counts are added up, and those in which a workload is down for a time are named.
//
// # Silence
//
// What rules ignore, and what a baseline knows, is counted and not listed unless the reader asks for it. The two are counted apart: a rule
// stands for a decision, a baseline for drift that was there before.
//
// # Fixes
//
// A FixResult is written in two texts, because a reader is asked between them. The plan has the signs, columns and widths of a report of
// drift, but values stand as live → becomes, and a sign says what the fix does, whatever the next upgrade would do. If a fix changes the
// owner of a field and not its value, the value stands alone:
//
//	release web in prod: fix puts back 2 fields and creates 1 object · revision 3 · web-1.2.0 · deployed
//
//	Service web: missing; to be created
//	Deployment web: 2 fields to put back
//	  ± spec.paused    false  kubectl-edit, 5 min ago · the value stays, only its owner changes
//	  ± spec.replicas  5 → 2  kubectl (scale), 3 min ago
//	left: Job migrate: it may have finished and expired
//
// The result follows: a line for each status and reason with the names it is about, and last what is true now. It says that a release "is
// as Helm deployed it" only if the release was compared again and all of it was seen.
package text

// Package text writes documents of the report for people: a report, the plan and the result of a fix, and a list of releases.
//
//	table, lines ─► object ─► fold ─► answer ─► release ─┬───────────► summary, fix
//	overview, trouble ─┬─► list                          │         │
//	                   └─────────────────────────────────┴─► scan ─┘
//	layout, english ─► all of them                   phrases: the same words for the page of a browser
//
// A file uses only the files to its left. Package layout writes the lines; packages counts, found and edits count. The texts of absorb and
// of histories need nothing else of this package, and are in the packages absorb and history. The package decides nothing: verdicts, causes
// and counts come with the report, and values come masked. It compares two values only to choose which part of them to show.
//
// # The rules of reports
//
// A report begins with the answer: has the release drifted, who edited it, what does Helm do next, and what can the reader do. The answer
// fits on a few lines. What follows is evidence, the most urgent first.
//
//	release web in prod · revision 3 · web-1.2.0 · deployed
//	  DRIFTED   1 field in 1 of 42 objects, 1 missing; newest edit 3 min ago
//	  by        kubectl (scale) 1; deletions: see the audit log
//	  upgrade   restarts 3 pods one at a time; puts back 1 drifted field and re-creates 1 object
//	  do        helmdrift fix web -n prod, or keep the edits: helmdrift absorb
//
//	fields: what the next upgrade does · path · deployed → live now · who
//	Service web: missing; the next upgrade creates it
//	Deployment web: the next upgrade updates it
//	  ± puts back  spec.replicas  2 → 5  kubectl (scale), 3 min ago
//
// The rules:
//
//   - A sign says what Helm does with a field: + add, - remove, ± overwrite, ∅ ignore, ! conflict (in ASCII: + - ~ = !), and in a report of
//     drift a word beside it says the same. Colour repeats a sign, a state or a heading and carries no information of its own. It is loud
//     for what may hurt: failures, missing objects, restarts.
//   - A report of drift shows values as deployed → live now, and so does the plan of a fix. If the record itself would change something in
//     an object, it shows deployed | desired | live now. A side without the field is (none). Text in parentheses is never a value, because
//     a string that begins with one is quoted.
//   - All numbers are of the same things. Fields and objects that drifted are those of the first line: the upgrade puts back some of them
//     and leaves the others, and a fix puts back as many as it can.
//   - Objects stand in this order: what could not be compared or fails, what is missing, what restarts pods, the rest, and objects of which
//     only labels, annotations or unmanaged fields differ.
//   - An edit that three or more objects share is one line, unless -v asks for all.
//   - On a terminal, what does not fit on about one screen is counted, and -v lists it. The answer is written again after a pager. Without
//     a terminal everything is listed, and a long report ends with the answer again.
//   - Lines of a text are compared as a diff with hunks; @@ says the number of the first line.
//   - A string is quoted if it could be taken for something else (5, true, an empty string) or holds characters that cannot be shown.
//     Quoted text has escapes; text without quotes is literal.
//   - On a terminal no line is longer than the terminal is wide. Paths lose their beginning. Values lose the part that they share and then
//     their end. Prose continues below, behind a gutter. On a terminal of fewer than 40 columns text is laid out for 40.
//   - Without a terminal nothing is shortened, and a finding is one line, so that grep finds all of it.
//   - What differs inside a document (a value that is YAML, JSON or the like) stands below its finding, a change on each line, behind the
//     path of the finding if the terminal has room for it.
//   - A remark that the notes of all findings of an object share is written once, above its fields.
//   - What could not be compared is named in the first line, at its object, and in the last line. It never looks clean.
//
// # Previews
//
// Before an upgrade, a rollback or an install, readers ask four questions, in this order: does it fail, which edits does it destroy, which
// edits stay, and what else does it change. The line about the operation answers in that order, and so does each object:
//
//	release web in prod · revision 7 · web-1.8.0 · deployed · against chart web-1.8.1
//	  DRIFTED   1 field in 1 of 8 objects; newest edit 3 min ago
//	  by        kubectl (scale) 1
//	  upgrade   overwrites 1 drifted field, changes 5 fields in 4 objects and leaves 1 unmanaged field
//	  do        keep the edits: helmdrift absorb, or let the upgrade undo them
//
//	fields: path · deployed → desired · who
//	in 4 objects:  ± metadata.labels["helm.sh/chart"]  web-1.8.0 → web-1.8.1  2 ConfigMaps, 1 Deployment, 1 Service
//
//	Deployment web: drifted; the upgrade updates it, overwrites 1 drifted field and leaves 1 unmanaged field
//	  drifted:                deployed | desired | live now
//	  ± spec.replicas         2        | 3       | 5         kubectl (scale), 3 min ago
//	  ∅ spec.minReadySeconds  (none)   | (none)  | 7         kubectl-edit, 2 h ago · unmanaged
//	  changing:
//	  ± spec.revisionHistoryLimit  5 → 3
//
//	3 more objects: nothing but what is listed above
//
// The rules of previews:
//
//   - What drifted stands in three columns, because an arrow would have two meanings. A change that meets an edit stands there too. A
//     field that only changes stands as old → desired: nobody touched it, so live equals old. An adopted object has no old side, so live
//     is on the left.
//   - What a class silences stands last in its object. A line at the end counts it.
//   - A change that three or more objects share is one line above the objects. The values and notes must be equal and known, so a masked
//     value is never grouped. Neither is a field that drifted, is ignored or has a class, or whose object fails or is adopted.
//   - An object with nothing else to say has no block of its own and is counted. Four or more objects that are not reached are counted
//     too, and 13 or more new objects are listed by kind. Four or more fields that each rendering changes share a line, and so do three or
//     more objects that the server could not be asked about. Missing and failing objects, deletions and adoptions are written in full.
//   - Nothing is dropped: each finding has a line, or a line counts it. JSON and YAML list everything.
//   - A deleted object lists what drifted in it, because those edits are deleted with it.
//   - If the operation does not reach an object, or fails on it, its changes stand under "would change".
//   - If the server agrees (dry run), that is only counted. If it disagrees, the object and the answer say so.
//   - The lines of a message with several lines (the error of a template, the hint of Helm) stay lines, behind the gutter.
//
// # Scans
//
// The report of a selection of releases begins with one answer for all and an overview. Each release that is written in full looks as in
// a report of its own:
//
//	3 releases: 1 drifted, 1 error, 1 clean · 0.4 s
//	  DRIFTED   2 fields in 1 of 49 objects, 1 missing; newest edit 3 min ago
//	  ERROR     not everything could be searched and read
//	  by        kubectl (scale) 1, kubectl-set 1; deletions: see the audit log
//	  upgrade   puts back 2 drifted fields and re-creates 1 object
//	  do        helmdrift fix web -n prod --dry-run, or keep the edits: helmdrift absorb
//
//	state    namespace  release  revision  found                            newest  oldest  who
//	error    prod       db                 could not be compared
//	drifted  prod       web      3         2 fields in 1 object, 1 missing  3 min   3 d     kubectl, +1
//	clean    prod       cache    12
//
//	error: db in prod on dev: Secret prod/sh.helm.release.v1.db.v7: the record is cut off after 1048576 bytes
//
//	release web in prod on dev · revision 3 · web-1.2.0 · deployed
//	  DRIFTED   2 fields in 1 of 42 objects, 1 missing; newest edit 3 min ago
//	  by        kubectl (scale) 1, kubectl-set 1; deletions: see the audit log
//	  upgrade   puts back 2 drifted fields and re-creates 1 object
//	  do        helmdrift fix web -n prod --dry-run, or keep the edits: helmdrift absorb
//
//	fields: what the next upgrade does · path · deployed → live now · who
//	Service web: missing; the next upgrade creates it
//	Deployment web: the next upgrade updates it
//	  ± puts back  spec.replicas                                  2 → 5                kubectl (scale), 3 min ago
//	  ± puts back  spec.template.spec.containers[name=web].image  web:1.25 → web:1.27  kubectl-set, 3 d ago
//
//	not compared: 1 hook
//	the comparison is incomplete: 1 error
//
//	3 releases: 1 drifted, 1 error, 1 clean · 0.4 s
//	  DRIFTED   2 fields in 1 of 49 objects, 1 missing; newest edit 3 min ago
//	  ERROR     not everything could be searched and read
//	  by        kubectl (scale) 1, kubectl-set 1; deletions: see the audit log
//	  upgrade   puts back 2 drifted fields and re-creates 1 object
//	  do        helmdrift fix web -n prod --dry-run, or keep the edits: helmdrift absorb
//
// The rules of scans:
//
//   - The overview has a line for each release, in the order error, drifted, blocked, changed, clean. Blocked means that nothing drifted
//     but the operation fails; changed means that something else was found that is not silenced. Within a state, releases stand in the
//     order of their most urgent objects, then of their newest edit. If there are more than ten clean releases, none is listed.
//   - Newest, oldest and who are about what drifted, or about the other edits if nothing drifted. Managers that people use are named first.
//   - On a narrow terminal, columns give way in this order: revision, record in, oldest, who, newest, found. State and names stay. Names
//     lose their middle. A column that is empty for all releases is not there.
//   - A message is written once for all releases and objects that share it, apart from the names in it.
//   - Only what drifted has details, and only if that is at most three releases. With -v every release has a line, and every release that
//     has more to say has details.
//   - What could not be searched is named in the last lines. It is neither clean nor counted.
//   - The command that fixes a release is named if only one drifted.
//
// # Lists
//
// A list of releases has the columns of the overview that are known without a comparison, and columns from the record:
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
// What a write means for pods stands behind the gutter below the line of its object. The sum for a release stands in its answer. Phrases
// come with the report; only the age of an earlier restart is written here:
//
//	Deployment web: the next upgrade updates it
//	  │ effect: restarts 3 pods one at a time, 2 stay ready; an edit restarted its pods 2 h ago
//	  ± puts back  spec.template.spec.containers[name=web].image  web:1 → web:2  kubectl-set, 2 h ago
//
// For several releases the counts are added up, and releases with a workload that is down for a time are named.
//
// # Silence
//
// What rules ignore and what a baseline knows is only counted, unless the reader asks for a list. The two are counted apart: a rule is a
// decision, while a baseline is drift that existed before.
//
// # Fixes
//
// A FixResult is written in two texts, because the reader is asked between them. The plan has the signs, words, columns and widths of a
// report of drift, but a sign says what the fix does, whatever the next upgrade would do. If a fix changes only the owner of a field, the
// value stands alone:
//
//	release web in prod · revision 3 · web-1.2.0 · deployed
//	  fix       puts back 2 fields and creates 1 object
//
//	fields: what the fix does · path · deployed → live now · who
//	Service web: missing; to be created
//	Deployment web: 2 fields to put back
//	  ± keeps      spec.paused    false  kubectl-edit, 5 min ago · only its owner changes
//	  ± puts back  spec.replicas  2 → 5  kubectl (scale), 3 min ago
//	left: Job migrate: it may have finished and expired
//
// The result follows. It has a line for each status and reason with the names it is about, and the last lines say what is true now. It
// says that a release "is as Helm deployed it" only if the release was compared again and all of it was seen.
//
// # Tests
//
// The tests beside this file are about single rules; internal/output compares whole documents with its golden files (TestGolden,
// TestFixGolden, TestListGolden).
package text

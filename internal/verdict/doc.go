// Package verdict decides for each field of one object what the next upgrade does with it, and who changed it. It walks the [States] of an
// object together (old, desired, live, and result: live after Helm's own patch), and makes a [Finding] for each place where they differ.
//
//	Object (its States) ─► Walker.Compare
//	             walk        goes down maps and keyed lists, makes the findings, and folds those of a one-sided subtree into one
//	             classify    the verdict on one place: the table below, and what Helm's patch really does
//	             allocations the fields that the API server and controllers fill in
//	             spelling    what a write changes in the spelling alone; conflicts: what a server-side apply fails on
//	          ─► []Finding, in order of their paths
//
// # The table
//
// If old, desired and live hold x, y, z or nothing (-), the verdict is:
//
//	old  desired  live   verdict    cause
//	any  x        x      (none: converged, whatever old was)
//	-    x        -      add        change
//	-    x        y      add        both      (overwrites whatever live holds)
//	x    x        -      add        drift
//	z    x        -      add        both
//	x    x        y      overwrite  drift
//	z    x        z      overwrite  change
//	z    x        y      overwrite  both
//	z    -        z      remove     change
//	z    -        y      remove     both
//	z    -        -      (none)
//	-    -        y      ignore     drift, unmanaged
//
// The table only names the verdict. The result shows whether anything happens. If the result equals live, the verdict is ignore, or empty
// if nothing changed. If the table and the patch disagree, the patch wins, and a note explains why (classify.go).
//
// # Who owns a value
//
// A field is managed if the manifest of old or desired names it, with a zero value or a null too. A field that only live or only a default
// has is unmanaged. It is a finding only if a manager other than the deployer wrote it: the API server records the writer as owner of the
// defaults that the write causes, and records no owner for what it allocates itself. An unmanaged finding never makes an object drifted.
//
// # Volatile values
//
// A chart may generate a value each time it is rendered, such as a password. A value that differs in a second rendering is volatile: the
// upgrade writes it, so the finding is reported. A difference between desired and old does not prove that the chart changed, so the
// finding counts as ignored as long as live equals old (volatile.go).
//
// # An example
//
// This is about a Deployment's pod labels. Old has label-1, label-2 and label-3, all "install". Somebody sets all of them to "manual" and
// adds new-one. The new chart keeps label-1, sets label-2 to "upgrade", drops label-3 and brings label-4:
//
//	label-1  overwrite, drift    install in both manifests: the patch restores it
//	label-2  overwrite, both     the chart and the person changed it
//	label-3  remove, both        dropped by the chart; the edit in live does not keep it
//	label-4  add, change
//	new-one  ignore, drift       no manifest names it: unmanaged, it stays
//
// # Tests
//
// The tests beside this file have a line for each row of the table; the cases of whole objects, with what Helm's patch really does to them,
// are the files of testdata/threeway, which pkg/threeway runs (TestCases).
package verdict

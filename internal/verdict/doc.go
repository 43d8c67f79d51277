// Package verdict says of each field of one object what the next upgrade does with it, and who moved it. It goes through the [States] of an
// object at once (old, desired, live, and result: live after Helm's own patch), and makes a [Finding] of each place at which they differ.
//
//	States ─► Walker.Compare
//	             walk        goes down maps and keyed lists, and folds a one-sided subtree into one finding
//	             classify    the word for one place: the table below, and what Helm's patch really does
//	             allocations what the API server and controllers fill in belongs to nobody
//	             spelling    what a write changes in the spelling alone; conflicts: what a server-side apply fails on
//	          ─► []Finding, in order of their paths
//
// # The table
//
// Where old, desired and live hold x, y, z or nothing (-), the word is:
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
// The table only gives the word. Whether anything happens is read off the result. Where the result is live, the verdict is ignore, or
// nothing if nobody moved; where table and patch disagree, the patch wins, and a note says why (classify.go).
//
// # Whose a value is
//
// A field is managed if the manifest of old or desired names it, with a zero value or a null too. The rest, what only live or only a default
// has, is unmanaged. It is a finding only if somebody other than the deployer wrote it: the API server credits a client's write with the
// defaults that it caused, and what the server allocates itself belongs to nobody. It is no drift.
//
// # Values that are made anew
//
// A chart may make a value each time it is rendered, a password for one. What a second rendering makes differently is volatile: the upgrade
// writes it, so the finding stands. But that desired differs from old there proves no change of the chart, so it counts as ignored as long
// as live has not left old (volatile.go).
//
// # An example
//
// A Deployment's pod labels. Old has label-1, label-2 and label-3, all "install". Somebody sets all of them to "manual" and adds new-one. The
// new chart keeps label-1, sets label-2 to "upgrade", drops label-3 and brings label-4:
//
//	label-1  overwrite, drift    install in both manifests: the patch puts it back
//	label-2  overwrite, both     the chart and the person moved it
//	label-3  remove, both        dropped by the chart; that live has changed does not save it
//	label-4  add, change
//	new-one  ignore, drift       no manifest names it: unmanaged, it stays
package verdict

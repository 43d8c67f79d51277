// Package threeway compares what Helm deployed (old), what it would deploy (desired) and what the cluster holds (live), and
// says of every field what the next upgrade will do with it. It is pure: it reads nothing, knows no client and changes none of
// its input. [Compare] makes a [Comparison], which holds every value in clear and never leaves the process;
// [Comparison.Report] is the only way from there to the masked [Report] that all output formats show.
//
// # Two questions
//
// Has live left old? That is drift. What will the upgrade do? That is the verdict. They are different: a custom resource that
// drifted is, under Helm 3, left as it is. So each finding has both: a cause, which says who moved away from old (drift: live;
// change: the chart or its values; both), and a verdict, which says what Helm will do (add, remove, overwrite, ignore).
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
// The table only gives the word. Whether anything happens is read off the result: live after Helm's own patch, made by the
// library calls that Helm makes, from the texts as they are (patch.go). Where the result is live, the verdict is ignore, or
// nothing if nobody moved; where table and patch disagree, the patch wins and a note says why (classify.go).
//
// A field is managed if the manifest of old or desired names it, with a zero value or a null too. The rest, what only live or
// only a default has, is unmanaged: it is told, but it is no drift.
//
// # Silence
//
// A release that nobody touched has no finding, although its manifests and the live objects are never the same texts. All
// sides are brought to one normal form first (forms.go, normal.go), and then compared leaf by leaf (walk.go):
//
//   - Through the kind's Go type, which decides what counts as absent and how quantities are written (shape_native.go), or
//     through what a CustomResourceDefinition says (shape_custom.go). Helm's patch merges by these types' tags, items of lists
//     are named by the API's own list-map keys.
//   - With the API's defaults on every side: a table by Go type and field (defaults.json), and rules for those that depend on
//     a sibling.
//   - Without what the server or a controller allocates (allocations.go, one line and one reason each).
//   - And of what then is left on live alone, only what somebody else than the deployer wrote (owners.go): the API server
//     credits a client's write with the defaults that it caused, and what it allocates itself belongs to nobody. What only
//     controllers wrote is counted (managers.go).
//
// What a rule silences (rule.go) is found and told like everything else, and only does not count.
//
// A one-sided subtree is one finding at its highest node: an added container, not each of its fields.
//
// A chart may make a value anew each time it is rendered, a password for one. What a second rendering makes otherwise
// ([Object.Again]) is volatile: the upgrade will write it, so the finding stands, but that desired differs from old there is no
// change anybody made, and it counts as ignored as long as live has not left old (volatile.go).
//
// # Whole objects
//
// What Helm does with an object as a whole depends on what it is doing. With --force it replaces instead of patching (replace.go). An upgrade asks who owns what it finds and old does not
// have (actions.go). A rollback asks nobody and takes live for old there, so that it takes away what its target does not name
// (rollback.go). An install has no old: it creates or adopts everything (install.go). An object whose kind moves to another API
// group while it stays the same object is deleted by what was to update it (groupchange.go).
//
// # The server's word
//
// [Comparison.Requests] are the writes that Helm would send, computed by the same code as result; [Comparison.Verify] holds the
// prediction against what the API server answers when it only tries them. The server's answer corrects nothing: where it
// disagrees, the prediction has a fault, and the report says so.
//
// # An example
//
// A Deployment's pod labels. Old has label-1, label-2 and label-3, all "install". Somebody sets all of them to "manual" and adds
// new-one. The new chart keeps label-1, sets label-2 to "upgrade", drops label-3 and brings label-4:
//
//	label-1  overwrite, drift    install in both manifests: the patch puts it back
//	label-2  overwrite, both     the chart and the person moved it
//	label-3  remove, both        dropped by the chart; that live has changed does not save it
//	label-4  add, change
//	new-one  ignore, drift       no manifest names it: unmanaged, it stays
//
// testdata/threeway/labels.txtar is this example; the files beside it are the others.
//
// # Sources
//
// What Helm does: helm v3.22.0 pkg/kube/client.go (createPatch, update: order, failures, deletions), pkg/kube/converter.go (which
// kinds are its own), pkg/kube/resource.go (how objects are matched), pkg/action/validate.go (adoption, ownership metadata),
// pkg/action/install.go and rollback.go (what they do otherwise).
// How patches merge: k8s.io/apimachinery v0.37 pkg/util/strategicpatch and evanphx/json-patch, called, not imitated. How list items
// are named: k8s.io/client-go v0.37 applyconfigurations. Defaults: k8s.io/kubernetes v1.36.3 pkg/apis/*/*/defaults.go.
package threeway

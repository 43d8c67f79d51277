// Package search finds the changes of values that make a chart render what the cluster holds. It knows no cluster and no files: it gets the
// values, the fields, and a function that renders the chart.
//
//	Wanted: object, path, live value ─┐
//	values, what each template reads ─┴► Search ─► for each field: likely values, the most likely first (candidates.go, rank.go)
//	                                       │         ─► Render: the chart with the values changed
//	                                       │         ─► is desired equal to live there? what else moved? (changes.go)
//	                                       └► Result: the edits, for each field a proof, other candidates, or the reason why there is none
//
// # How it searches
//
// The search absorbs one field after the other, each on top of the earlier edits, so that two items that are added to one list become two
// items. For each field it tries the following, until something is proved:
//
//   - The live value itself in each value that the template may read. The order is by likeness: of the current value with what desired
//     has, and of the words of both paths. If a rendering moves the field but not to live, it shows how the field is composed: what stands
//     before and after the value. So an image tag, a quantity or an argument is solved for in the second rendering (compose.go).
//   - If a field is composed of several values, the live value is cut at the texts between them, and all of them are set together.
//   - A mark in each map that the template may read. The place where the mark appears shows which part of the object the map belongs to,
//     and a key of the live value is set there: labels, annotations, resources (extend.go).
//   - The live items at the end of each list, or as the text of a value that is a template by itself.
//   - For fields that live lacks: nulls, empty values, and switches. For fields that a switch hides: the switch and the value together
//     (candidates.go).
//
// The search renders the chart with each attempt. It offers a candidate only if desired equals live at the field in that rendering, in
// the normal form of the comparison. It orders candidates by what else they change in other objects and hooks (hooks.go), then by what
// they change in the same object, and then by how near the value is. It refuses a candidate that leaves a hole in a text (plausible.go).
//
// Attempts that mostly do nothing share a rendering, and are split only if the field changes in it (trial.go). So for a chart with 300
// values, it takes some 60 renderings to find that none of them controls a field.
//
// # What is refused
//
// The values file may refuse an edit, because an anchor shares the value with another place; then the search tries both places together
// (refused.go). The chart may fail with a value, or its schema may refuse it. If the message names a switch, the search tries that switch
// together with the value. A rendering may also take too much time or memory; the caller gives it up and says so. All of these drop only
// one candidate, and the search for the field goes on. A refused change is the answer only if nothing else controls the field.
//
// # What it never does
//
// It never changes a value whose name announces a secret, nor writes a secret into a value. The caller says which fields hold a secret.
//
// # Tests
//
// TestCases of internal/absorb runs the search: each file of its testdata is a chart, edits and the change of values that absorbs them.
// The tests beside this file are about overlays, and about objects and hooks whose names differ with each rendering (naming.go).
package search

// Package absorb finds the changes of values that make a chart render what the cluster holds. It knows no cluster and no files: it gets the
// values, the fields, and a function that renders the chart.
//
//	Wanted: object, path, live value ─┐
//	values, what each template reads ─┴► Search ─► for each field: likely values, the most likely first (candidates.go, rank.go)
//	                                       │         ─► Chart.Render: the chart with the values changed
//	                                       │         ─► is desired equal to live there? what else moved? (effects.go)
//	                                       └► Result: the edits, for each field a proof, other candidates, or the reason why there is none
//
// # How it searches
//
// Fields are absorbed one after the other, each on top of the edits of those before it, so that two items that are added to one list become
// two items. For each field these are tried, until something is proved:
//
//   - The live value itself in each value that the template may read. The order is by likeness: of the current value with what desired has,
//     and of the words of both paths. A rendering in which the field moved and is not live shows how the field is composed: what stands
//     before and after the value. So an image tag, a quantity or an argument is solved for in the second rendering (compose.go).
//   - If a field is composed of several values, the live value is cut at the texts between them, and all of them are set together.
//   - A mark in each map that the template may read. Where the mark appears tells to which part of the object the map belongs, and a key of
//     the live value is set there: labels, annotations, resources (extend.go).
//   - The live items at the end of each list, or as the text of a value that is a template by itself.
//   - For what live lacks: nulls, empty values, and switches. For what hides behind a switch: both together (switches.go).
//
// Everything that is tried is rendered, and a candidate is offered only if desired equals live at the field in that rendering, in the
// normal form of the comparison. Candidates are ordered by what else they move in other objects, hooks included (hooks.go), then by what
// they move in the same one, and then by how near the value is. One that leaves a hole in a text is none (plausible.go).
//
// Attempts of which most do nothing share a rendering, which is split only if the field moves in it (trial.go). A chart with 300 values so
// takes some 60 renderings to say that none of them controls a field.
//
// # What is refused
//
// The values file may be unable to take an edit, because an anchor shares the value with another place; then both places are tried together
// (refused.go). The chart may fail for a value, or its schema may refuse it. A switch that its message names is tried with the value. A
// rendering may also take too much time or memory; the caller gives it up and says so. All of these are matters of one candidate: it drops
// out, the field is searched on, and what was refused is the answer only if nothing else controls the field.
//
// # What it never does
//
// A value whose name announces a secret is never changed, and a secret is never written into a value. The caller says which fields hold
// one.
package absorb

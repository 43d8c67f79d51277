// Package repair puts back what drifted in a release, that and nothing else.
//
// It works in two halves. The first is pure: New makes a Plan of a threeway.Comparison, in clear, and ObjectPlan.Patch
// makes the JSON patch from an object as it is live to the repaired object: live with exactly the planned fields at the value
// that Helm deployed. Every operation stands behind tests of what the plan saw, so the API server itself refuses a patch
// whose ground has moved. The second half, Plan.Run, sends the patches through a Writer, reads again what was refused, and
// tells each object's outcome.
//
// Nothing here knows a client, a flag or a colour. Values leave only through Writer; Plan.Result, which is shown, is masked.
package repair

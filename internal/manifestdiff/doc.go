// Package manifestdiff writes what a comparison found as the patch of -o diff: a unified diff of the manifest, which patch(1) applies to the
// output of helm get manifest. internal/output puts the patches of releases one after the other. Without a chart the new manifest has what
// live has; with one, or with a revision to return to, it has what desired has.
//
//	manifest ─► documents ─┬─► edits of each (internal/valuesfile) ─► new manifest ─► hunks (internal/unified) ─► checked ─► report.Patch
//	findings ──────────────┘
//
// Findings that a rule silences are left out. So is everything that cannot be said in a diff, each with a comment line before the header.
//
// Masked makes the text of a manifest fit for a snapshot, so that the same patch can be made from that.
//
// # What is never written
//
// A line is secret if it belongs to a Secret, to a value that a report masks, or to a document that cannot be searched for secrets, or if
// its text has the form of a secret. Changes next to it have fewer lines of context; a change of it is left out.
//
// A diff cannot escape a line of the manifest, because it would not apply any more. So a change is also left out if one of its lines has a
// character that is not plainly visible, a command that a CI agent obeys anywhere in a line, or, as context, one that begins with "::".
package manifestdiff

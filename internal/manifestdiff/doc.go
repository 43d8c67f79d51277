// Package manifestdiff writes what a comparison found as the patch of -o diff: a unified diff of the manifest, which patch(1) applies to
// the output of helm get manifest. internal/output puts the patches of releases one after the other. Without a chart the new manifest has
// live's values. With a chart, or with a revision to return to, it has desired's.
//
//	manifest ─► documents ─┬─► edits of each (internal/valuesfile) ─► new manifest ─► hunks (internal/unified) ─► checked ─► report.Patch
//	findings ──────────────┘
//
// A diff leaves out findings that a rule silences, and everything that a diff cannot express, each with a comment line before the header.
//
// Masked prepares the text of a manifest for a snapshot, so that the snapshot gives the same patch.
//
// # What is never written
//
// A line is secret if it belongs to a Secret, to a value that a report masks, or to a document that cannot be searched for secrets, or if
// its text has the form of a secret. A change of such a line is left out, and a change next to it has fewer lines of context.
//
// A diff with escaped lines would not apply. So a change is also left out if one of its lines has a character that is not plainly visible,
// or a command that a CI agent obeys anywhere in a line, or if a context line begins with "::".
package manifestdiff

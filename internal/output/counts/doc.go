// Package counts counts over the releases of a report, and says in a sentence what drifted, what Helm will do, and what could not be seen.
//
//	releases ─► Of ─► Counts ─┬► Drift: has the cluster left what Helm deployed?
//	                          ├► Does, Operation, Server: what does Helm do next?
//	                          └► Extras, UnlistedCounts, Incomplete: what else is there, and what is not known?
//
// The numbers of the report's own summary come with the report. These are the ones that it lacks.
//
// The sentences are tested by the texts of internal/output/text and by the stories.
package counts

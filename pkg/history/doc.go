// Package history says of each finding in a series of reports when it came, changed and went:
//
//	Report, Report, … (in the order of their times) ─► Builder.Add ─► Builder.History ─► report.History ─► internal/output
//
// In a program:
//
//	var builder history.Builder
//	for _, r := range reports {
//		if err := builder.Add(r); err != nil {
//			return err // it is older than the one before it
//		}
//	}
//	h := builder.History("v1")
//
// A finding is known again by its release, object and path. Its id has the verdict too, so a field that somebody changes and later deletes
// has two ids and one history.
//
// # What a report says
//
// Not seen is not absent. A report without a release says nothing of it, and a report in which the release, or the object, has an error
// says nothing of the findings that it does not list. The fields of an object that is missing were not compared. Previews of an upgrade or
// a rollback are left out: a field that the chart changes to live's value is no finding there, and drifted nevertheless.
//
// # Memory
//
// A Builder keeps no report. It keeps each finding once, with its latest steps, and one point for each time of a report.
package history

// Package history finds out when each finding in a series of reports came, changed and went:
//
//	Report, Report, … (in the order of their times) ─► Builder.Add ─► Builder.History ─► past.History ─► internal/output
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
// Release, object and path identify a finding across reports. The id in a report contains the verdict too, so a field that somebody
// changes and later deletes has two ids and one history.
//
// # What a report says
//
// Not seen is not absent. A report without a release says nothing about it. If the release or the object has an error, the report says
// nothing about the findings that it does not list. It says nothing about findings that a flag such as --only or --since leaves out, and
// the fields of an object that is missing were not compared. Previews of an upgrade or a rollback are left out: if the chart changes a
// field to live's value, the preview has no finding for it, although the field drifted.
//
// # Memory
//
// A Builder keeps no report. It keeps each finding once, with its latest steps, and one point for each time of a report.
package history

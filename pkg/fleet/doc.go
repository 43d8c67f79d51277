// Package fleet compares many releases of one cluster. It finds them, lets them share what they read, and compares each with pkg/drift, so
// that the report of a fleet is made of the reports that its releases have one by one.
//
//	Selection ─► Find ─────────────────► releases, and what could not be searched
//	               one list of metadata       │
//	                                          ▼
//	             Compare ─── workers ─── drift.Comparer ─── shared: pages of objects, definitions, autoscalers, namespaces
//	                                          │
//	                                          ▼
//	             one more list: a release that changed meanwhile is compared again, by itself
//	                                          │
//	                                          ▼
//	                                   report.Release, one for each
//
// The first lines of a program; the example of the package has all of it:
//
//	source := fleet.Source{Cluster: cluster, Storage: storage, Name: "prod-cluster"}
//	found, err := source.Find(ctx, fleet.Selection{})
//	releases, err := source.Compare(ctx, found, fleet.Options{})
//	r := report.NewScan("v1", time.Now(), releases, found.Errors, report.Scan{Clusters: []string{source.Name}})
//
// List takes the same releases and reads only the last record of each.
//
// # What is shared
//
// A release that is compared alone lists its records, reads one or two of them, and lists or gets its objects. In a fleet, the records
// of all releases are listed once, and only their metadata. Each release still costs one request for its record. Its objects come from
// lists of one kind each that go along with the releases (live.Sweep). Definitions of custom resources, OpenAPI documents, autoscalers and
// namespaces are read once for all.
//
// The releases are worked on in the order in which the API server lists objects. So only the pages around the present namespaces are in
// memory, however many releases there are.
//
// # One release never stops another
//
// What goes wrong with one release, even a panic, is an error in its own report.Release. What cannot be searched for releases, such as a
// namespace whose records the role may not list, is a report.ScanError.
//
// # While somebody deploys
//
// The records are listed before the first release is compared. If any comparison found something or failed, they are listed again
// afterwards: a release whose records changed in between is compared again, alone, as pkg/drift does it. If it keeps changing, that is its
// error. A release that was uninstalled meanwhile is left out.
package fleet

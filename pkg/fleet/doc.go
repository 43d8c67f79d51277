// Package fleet compares many releases of one cluster. It finds them, lets them share what they read, and compares each with pkg/drift.
// Each release has the same report as if it were compared alone.
//
//	Selection ─► Find ─────────────────► releases, and what could not be searched
//	               one list of metadata       │
//	                                          ▼
//	             Compare ─── workers ─── drift.Comparer ─── shared: pages of objects, definitions, autoscalers, namespaces
//	                                          │
//	                                          ▼
//	             one more list: a release that changed meanwhile is compared again, by itself
//	                                          │
//	             claims: objects of the manifests, and of the lists ─► orphans, overlaps
//	                                          │
//	                                          ▼
//	                     Compared: a report.Release for each, orphans and overlaps
//
// The first lines of a program; the example of the package has all of it:
//
//	source := fleet.Source{Cluster: cluster, Storage: storage, Name: "prod-cluster"}
//	found, err := source.Find(ctx, fleet.Selection{})
//	compared, err := source.Compare(ctx, found, fleet.Options{})
//	r := report.NewScan("v1", time.Now(), compared.Releases, found.Errors, report.Scan{Clusters: []string{source.Name}})
//
// [Source.List] takes the same releases and reads only the last record of each.
//
// # What is shared
//
// A release that is compared alone lists its records, reads one or two of them, and lists or gets its objects. In a fleet, the records of
// all releases are listed once, and only their metadata. Each release still costs one request for its record. Its objects come from lists,
// one for each kind, that several releases share (internal/sweep). Definitions of custom resources, OpenAPI documents, autoscalers and
// namespaces are read once for all.
//
// [Source.Share] gives the same to comparisons that a Source does not make itself.
//
// Compare takes the releases in the order that the API server lists objects in. So only the pages around the current namespaces are in
// memory, however many releases there are.
//
// # Orphans and overlaps
//
// The lists have more objects than the manifests of the releases. One that carries the annotations of a release, and that no manifest has,
// is an orphan; an object in several manifests is an overlap. Compare collects both beside the comparisons (claims.go), and reads further
// records only of releases with orphans (orphans.go).
//
// # One release never stops another
//
// If something goes wrong with one release, even a panic, its own report.Release has the error. If a place cannot be searched for
// releases, such as a namespace whose records the role may not list, there is a report.ScanError.
//
// # While somebody deploys
//
// The records are listed before the first release is compared. If any comparison found something or failed, they are listed again
// afterwards: a release whose records changed in between is compared again, alone, as pkg/drift does it. If it keeps changing, its report
// has that error. A release that was uninstalled in between is left out.
package fleet

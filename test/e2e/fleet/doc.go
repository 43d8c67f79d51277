// Package fleet generates releases as Helm 3 would have left them, and writes them into a cluster without running Helm.
//
//	Options ─► New ─► Fleet.Release(i) ─┬─► Release.Records: one for each revision  ─► Fleet.Fill ─► the cluster
//	  objects, seed    chart, values    ├─► Release.Objects: as helm creates them   ─►
//	                                    └─► Release.Drift: an edit of every 20th    ─►
//
// A release depends only on the options and its number. The first 20 of 2,000 releases are therefore the same as 20 releases, and a cluster
// can be filled in steps.
//
// One embedded chart has the templates of all kinds. The values of a release choose its objects, and the chart gets the name, the version
// and a README of one of a dozen applications, so that records differ in size. Helm's engine renders the last revision. The manifests of
// older revisions differ from it in the image tag only. Helm's own storage driver encodes the records.
package fleet

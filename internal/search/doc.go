// Package search finds the releases that a command is about, in one or several clusters. It belongs to the guest pkg/fleet: only the
// commands that compare or list several releases use it.
//
//	Flags ─► New ─► Search ─► InClusters ─┬─► for each cluster: connect, fleet.Source.Find ─► the command reads the releases
//	                                      │                                                  or Share: deployers compare theirs
//	                                      └─► Errors, Covered: what could not be searched, and what was
//
// A cluster that does not answer is an error of the search, and the others are searched all the same. If there is only one, its error is
// that of the command. Nothing found is an error ([Search.CheckFound]): a mistyped name must not look like a clean fleet. If there are several
// places, each namespace that does not exist is an error of the search.
//
// The tests are in test/e2e (fleet_*_test.go). TestMissingNamespace and the scripts in cmd/helmdrift have the messages about wrong flags.
package search

package fleet

import (
	"errors"

	"github.com/helmdrift/helmdrift/pkg/release"
)

// Released is one release in a list of records: its last record and the list of all of them.
type Released struct {
	Last    release.Listed
	History release.History
	// Problem is the reason why History cannot be trusted: the revision of one of the records is unknown.
	Problem error
}

// groupByRelease groups the result of a List without a selector by release, in the same order. Records that do not name their release are
// left out of the groups and returned as nameless.
func groupByRelease(storage *release.Storage, listed []release.Listed) (found []Released, nameless []release.Listed) {
	for _, l := range listed {
		if l.Release == "" {
			nameless = append(nameless, l)
			continue
		}
		if n := len(found); n == 0 || found[n-1].Last.Namespace != l.Namespace || found[n-1].Last.Release != l.Release {
			found = append(found, Released{History: release.History{Release: l.Release, Kind: storage.Kind(), Namespace: l.Namespace}})
		}
		r := &found[len(found)-1]
		r.Last, r.Problem = l, errors.Join(r.Problem, l.Problem)
		r.History.Entries = append(r.History.Entries, l.Entry)
	}
	return found, nameless
}

package text

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxDetails is how many releases of a scan have their details listed. With more of them, nobody would find the overview above.
const maxDetails = 20

// scan writes the report of a selection of releases: the overview, what could not be compared, the details of what drifted, and the tally.
func (t *text) scan(r *report.Report) {
	all := entriesOf(r.Releases)
	detailed, others, more := t.divide(all)
	writers := []func(){
		func() { t.overview(all, len(clustersOf(r))) },
		func() { t.troubles("error: ", t.releaseTroubles(others)) },
	}
	for _, e := range detailed {
		writers = append(writers, func() { t.release(e.Release) })
	}
	writers = append(writers,
		func() {
			if more > 0 {
				t.prose(fmt.Sprintf("details of %d more: -v, or helmdrift diff NAME -n NAMESPACE", more))
			}
		},
		func() { t.tally(r, all, others) },
	)
	t.blocks(writers...)
}

// divide returns the entries whose details are written, all others, and how many of those drifted or changed, so that -v lists details. The
// errors and warnings of the others are not among any details, so they are written or counted elsewhere.
func (t *text) divide(all []entry) (detailed, others []entry, more int) {
	for _, e := range all {
		if t.hasDetails(e) && (len(detailed) < maxDetails || t.verbose) {
			detailed = append(detailed, e)
			continue
		}
		others = append(others, e)
		more += oneIf(e.Drifted || e.state == report.StateChanged)
	}
	return detailed, others, more
}

// hasDetails reports whether there is more to say about a release than its line in the overview says, and the reader wants to know it.
func (t *text) hasDetails(e entry) bool {
	switch {
	case e.Drifted:
		return true
	case t.verbose:
		return e.state != report.StateClean || len(e.Warnings) > 0 || len(t.shown(e.Release).Objects) > 0
	}
	return t.showIgnored && foundIn(e.Release).ignored > 0
}

// clustersOf returns the clusters that the report is about: those that were searched, and those of its releases and errors.
func clustersOf(r *report.Report) []string {
	all := slices.Clone(r.Scan.Clusters)
	for _, rel := range r.Releases {
		all = append(all, rel.Cluster)
	}
	for _, e := range r.Errors {
		all = append(all, e.Cluster)
	}
	return slices.DeleteFunc(distinct(all, func(name string) string { return name }), func(name string) bool { return name == "" })
}

// searchedClusters returns the clusters of which at least a part was searched.
func searchedClusters(r *report.Report) []string {
	return slices.DeleteFunc(clustersOf(r), func(name string) bool {
		return slices.ContainsFunc(r.Errors, func(e report.ScanError) bool { return e.Cluster == name && e.Namespace == "" && !isUnknownName(e) })
	})
}

// tally writes the last lines: the number of releases in each state, the summary of all, and what could not be searched. That stands last,
// since whoever reads only the last line must not take the report for complete.
func (t *text) tally(r *report.Report, all, others []entry) {
	if len(all) == 0 {
		t.headline(t.noReleases(r))
	} else {
		t.headline(t.states(r, all))
		t.summary(r)
	}
	warnings, warned := 0, 0
	for _, e := range others {
		warnings += len(e.Warnings)
		warned += oneIf(len(e.Warnings) > 0)
	}
	if warnings > 0 {
		t.prose(english.Count(warnings, "warning") + " about " + english.Count(warned, "release") + " (see -v)")
	}
	t.unsearched(r.Errors, "report")
}

// unsearched writes what could not be searched, and that its releases are not in this document.
func (t *text) unsearched(errors []report.ScanError, document string) {
	for _, e := range errors {
		if isUnknownName(e) {
			t.prose("error: " + t.message(e.Message))
		}
	}
	errors = withoutUnknownNames(errors)
	t.troubles("could not search ", t.scanTroubles(errors))
	if unsearched := unsearched(errors); unsearched != "" {
		t.prose("incomplete: the releases of " + unsearched + " are not in this " + document)
	}
}

// isUnknownName reports whether the error is that no release has a name. The place was searched then.
func isUnknownName(e report.ScanError) bool { return e.Code == report.ErrorNotFound }

// withoutUnknownNames returns the errors about what could not be searched.
func withoutUnknownNames(errors []report.ScanError) []report.ScanError {
	return slices.DeleteFunc(slices.Clone(errors), isUnknownName)
}

// states counts the releases in each state: "200 releases: 12 drifted, 3 changed, 1 error, 184 clean · 4.1 s". A release with an error may
// have drifted too.
func (t *text) states(r *report.Report, all []entry) string {
	n, drifted := map[report.State]int{}, 0
	for _, e := range all {
		n[e.state]++
		drifted += oneIf(e.state == report.StateError && e.Drifted)
	}
	var said []string
	for _, state := range []report.State{report.StateDrifted, report.StateChanged, report.StateError, report.StateClean} {
		word := fmt.Sprintf("%d %s", n[state], state)
		switch {
		case n[state] == 0:
			continue
		case state == report.StateError:
			word = english.Count(n[state], "error")
			if drifted > 0 {
				word += fmt.Sprintf(" (%d drifted)", drifted)
			}
		}
		said = append(said, word)
	}
	subject := english.Count(len(all), "release")
	if clusters := len(searchedClusters(r)); clusters > 1 {
		subject += " on " + english.Count(clusters, "cluster")
	}
	return subject + shardOf(r.Scan) + ": " + english.JoinNonEmpty(t.dot, strings.Join(said, ", "), took(r.Scan.Seconds))
}

// shardOf names the part of the selection that was compared. It is empty if all of it was.
func shardOf(scan *report.Scan) string {
	if scan.Shard == nil {
		return ""
	}
	return fmt.Sprintf(" in shard %d/%d", scan.Shard.Index, scan.Shard.Count)
}

// took says how long a scan took. It is empty if that is not known.
func took(seconds float64) string {
	switch {
	case seconds <= 0:
		return ""
	case seconds < 10:
		return fmt.Sprintf("%.1f s", seconds)
	case seconds < 600:
		return fmt.Sprintf("%.0f s", seconds)
	}
	return span(time.Duration(seconds * float64(time.Second)))
}

// noReleases says where no release was found. It names only clusters that were searched.
func (t *text) noReleases(r *report.Report) string {
	said := "no releases found"
	searched := searchedClusters(r)
	for i, name := range searched {
		searched[i] = t.label(name)
	}
	if len(searched) > 0 {
		said += " on " + english.Enumerate(t.firstNames(searched, maxNames))
	}
	said += shardOf(r.Scan)
	if len(withoutUnknownNames(r.Errors)) > 0 {
		said += ", but not everything could be searched"
	}
	return english.JoinNonEmpty(t.dot, said, took(r.Scan.Seconds))
}

// unsearched counts what could not be searched.
func unsearched(errors []report.ScanError) string {
	var clusters, namespaces int
	for _, e := range errors {
		clusters += oneIf(e.Namespace == "")
		namespaces += oneIf(e.Namespace != "")
	}
	var said clauses
	said.count(clusters, "cluster")
	said.count(namespaces, "namespace")
	return english.Enumerate(said)
}

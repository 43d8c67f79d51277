package saved

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// Named is a report with its name.
type Named struct {
	// Name is the report's name in errors, such as the name of its file.
	Name string
	// Report is not nil.
	Report *report.Report
}

// Merge returns one report with the releases of all reports, sorted by cluster, namespace and name. Version is the version of the merging
// program. Reports of shards must be complete: each part of the same number of parts of the same clusters, once. A value of --only that
// matches nothing in any part is an error of the result. A release in two reports is an error, since the two may contradict each other, and
// so is an empty list. One report may have a release several times, once for each of its deployers.
//
// The result has the time of the newest report, and its Scan has the times of clusters that are older. Its Scan has the longest of the
// durations, since the parts of a fleet are scanned side by side, and the sum of the requests. It shares the contents of its releases with
// the reports.
func Merge(version string, reports []Named) (*report.Report, error) {
	if len(reports) == 0 {
		return nil, errors.New("there is no report to merge")
	}
	if err := checkShards(reports); err != nil {
		return nil, err
	}
	var releases []report.Release
	var errs []report.ScanError
	scan := report.Scan{OrphansSought: true}
	newest := reports[0].Report.Time
	from := map[[3]string]int{}
	for i, r := range reports {
		for _, rel := range r.Report.Releases {
			key := keyOf(rel)
			if other, again := from[key]; again && other != i {
				return nil, fmt.Errorf("release %s in namespace %s of cluster %q is in %s and in %s", rel.Name, rel.StorageNamespace, rel.Cluster,
					reports[other].Name, r.Name)
			}
			from[key] = i
			releases = append(releases, rel)
			scan.Clusters = append(scan.Clusters, rel.Cluster)
		}
		errs = append(errs, r.Report.Errors...)
		if one := r.Report.Scan; one != nil {
			scan.Seconds, scan.Requests = max(scan.Seconds, one.Seconds), scan.Requests+one.Requests
			scan.Clusters = append(scan.Clusters, one.Clusters...)
			scan.Orphans, scan.Overlaps = append(scan.Orphans, one.Orphans...), append(scan.Overlaps, one.Overlaps...)
		}
		scan.OrphansSought = scan.OrphansSought && r.Report.Scan != nil && r.Report.Scan.OrphansSought
		scan.Named = scan.Named || r.Report.Scan == nil || r.Report.Scan.Named
		if r.Report.Time.After(newest) {
			newest = r.Report.Time
		}
	}
	chosen, _ := Idle(reports)
	for _, value := range chosen {
		errs = append(errs, report.ScanError{Code: report.ErrorSelection, Message: value + report.NoMatch})
	}
	scan.Clusters = distinct(scan.Clusters)
	scan.Times = olderThan(newest, reports)
	return report.NewScan(version, newest, releases, errs, scan), nil
}

// olderThan returns the times of the clusters that some report saw before a time. A cluster has the time of the oldest report that has it:
// nobody knows what became of that part since.
func olderThan(newest time.Time, reports []Named) map[string]time.Time {
	var older map[string]time.Time
	for _, r := range reports {
		for _, cluster := range namesIn(r.Report) {
			at := r.Report.TimeOf(cluster)
			if first, known := older[cluster]; !at.Before(newest) || known && first.Before(at) {
				continue
			}
			if older == nil {
				older = map[string]time.Time{}
			}
			older[cluster] = at
		}
	}
	return older
}

// namesIn returns the clusters that a report is about.
func namesIn(r *report.Report) (names []string) {
	if r.Scan != nil {
		names = append(names, r.Scan.Clusters...)
	}
	for _, rel := range r.Releases {
		names = append(names, rel.Cluster)
	}
	return names
}

// Idle returns the values of --only and --skip that match nothing in any part of a selection. A part without releases does not count.
// Reports that are no parts say so themselves.
func Idle(reports []Named) (only, skip []string) {
	var idle []string
	isFirst := true
	for _, r := range reports {
		switch {
		case shardOf(r) == nil:
			return nil, nil
		case len(r.Report.Releases) == 0:
			continue
		case isFirst:
			idle, isFirst = slices.Clone(r.Report.Scan.Idle), false
		default:
			idle = slices.DeleteFunc(idle, func(value string) bool { return !slices.Contains(r.Report.Scan.Idle, value) })
		}
	}
	for _, value := range idle { // with its flag
		if strings.HasPrefix(value, "--only ") {
			only = append(only, value)
		} else {
			skip = append(skip, value)
		}
	}
	return only, skip
}

// Times returns a function that returns when a release was compared. Reports may be of different times, and so may the clusters of one that
// was merged before.
func Times(reports []Named) func(report.Release) time.Time {
	times := map[[3]string]time.Time{}
	for _, r := range reports {
		for _, rel := range r.Report.Releases {
			times[keyOf(rel)] = r.Report.TimeOf(rel.Cluster)
		}
	}
	return func(rel report.Release) time.Time { return times[keyOf(rel)] }
}

// keyOf returns what identifies a release.
func keyOf(r report.Release) [3]string { return [3]string{r.Cluster, r.StorageNamespace, r.Name} }

// checkShards returns an error unless the reports are all parts of one selection, or none of them is a part.
func checkShards(reports []Named) error {
	first, parts := shardOf(reports[0]), map[int]string{}
	for _, r := range reports {
		shard := shardOf(r)
		switch {
		case first == nil && shard == nil:
			continue
		case first == nil:
			return fmt.Errorf("%s is part %d of %d, and %s is no part", r.Name, shard.Index, shard.Count, reports[0].Name)
		case shard == nil:
			return fmt.Errorf("%s is part %d of %d, and %s is no part", reports[0].Name, first.Index, first.Count, r.Name)
		case shard.Count != first.Count:
			return fmt.Errorf("%s is one of %d parts, and %s one of %d", reports[0].Name, first.Count, r.Name, shard.Count)
		case parts[shard.Index] != "":
			return fmt.Errorf("%s and %s are both part %d of %d", parts[shard.Index], r.Name, shard.Index, shard.Count)
		case !slices.Equal(clustersOf(r), clustersOf(reports[0])) && !hasUnreached(r) && !hasUnreached(reports[0]):
			return fmt.Errorf("%s is no part of the selection of %s: it is of the clusters %q, not %q",
				r.Name, reports[0].Name, clustersOf(r), clustersOf(reports[0]))
		}
		parts[shard.Index] = r.Name
	}
	if first == nil {
		return nil
	}
	var missing []string
	for i := range first.Count {
		if parts[i] == "" {
			missing = append(missing, fmt.Sprint(i))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("of %d parts these are missing: %s", first.Count, strings.Join(missing, ", "))
	}
	return nil
}

// clustersOf returns the clusters that a scan has reached.
func clustersOf(r Named) []string { return distinct(slices.Clone(r.Report.Scan.Clusters)) }

// hasUnreached reports whether a scan has not reached one of its clusters. Its error may have the name of a context then.
func hasUnreached(r Named) bool {
	return slices.ContainsFunc(r.Report.Errors, func(e report.ScanError) bool {
		return e.Cluster != "" && !slices.Contains(r.Report.Scan.Clusters, e.Cluster)
	})
}

// distinct returns the names, sorted and each once. It changes the list.
func distinct(names []string) []string {
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

// shardOf returns the part that a report covers, or nil if it covers no part.
func shardOf(r Named) *report.Shard {
	if r.Report.Scan == nil {
		return nil
	}
	return r.Report.Scan.Shard
}

package output

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// family is a metric family: a name, the unit that the name ends with, and what the samples count.
type family struct{ name, unit, help string }

// families returns all metric families in the order they are written. Each is a gauge, because a report describes one moment.
// docs/fleet.md has a table of them.
//
// Only a release that has something to say has samples of its own, and no label holds the name of an object or a field. So the number of
// samples grows with the number of clusters and of drifted releases, and not with the number of all releases.
func families() []family {
	return []family{
		{"helmdrift_build_info", "", "The version of helmdrift that made the report. The value is always 1."},
		{"helmdrift_scan_timestamp_seconds", "seconds", "When the report was made."},
		{"helmdrift_scan_duration_seconds", "seconds", "How long it took to compare the selected releases."},
		{"helmdrift_scan_requests", "", "Requests that were sent to compare the selected releases."},
		{"helmdrift_scan_shard", "", "The part of the selection that was compared, counted from 0."},
		{"helmdrift_scan_shards", "", "The number of parts of the selection."},
		{"helmdrift_last_success_timestamp_seconds", "seconds", "When the report was made, if nothing of the cluster failed."},
		{"helmdrift_errors", "", "Namespaces, releases and objects of the cluster that could not be read or compared."},
		{"helmdrift_releases", "", "Releases of the cluster that the report has."},
		{"helmdrift_drifted_releases", "", "Releases of the cluster that drifted."},
		{"helmdrift_objects", "", "Objects of the cluster that were compared."},
		{"helmdrift_drifted_objects", "", "Objects of the cluster that drifted."},
		{"helmdrift_fields", "", "Fields of the cluster with a finding that no rule ignores, drifted or not."},
		{"helmdrift_release_drifted", "", "1 for a release that drifted. Other releases have no sample."},
		{"helmdrift_release_drifted_objects", "", "Objects of a drifted release that drifted."},
		{"helmdrift_release_drifted_fields", "", "Fields of a release that drifted."},
		{"helmdrift_release_conflicts", "", "Fields of a release on which the next upgrade fails, because another field manager owns them."},
		{"helmdrift_release_failing_objects", "", "Objects of a release on which the next upgrade fails, for whatever reason."},
		{"helmdrift_release_errors", "", "Errors of a release: it, or objects of it, could not be read or compared."},
	}
}

// samples holds the values of each family by its labels. Values with the same labels add up, so no sample is written twice. A release with
// several deployers is compared for each of them, and each comparison counts; only helmdrift_release_drifted is never more than 1.
type samples map[string]map[string]float64

// writePrometheus returns the counts of a report as metrics.
//
// The text is OpenMetrics. Because it has only gauges and no timestamps, it is also valid in the older text format of Prometheus, which
// the Pushgateway and the textfile collector of the node exporter read. That format takes the lines with UNIT and EOF for comments.
func writePrometheus(r *report.Report, _ Options) ([]byte, error) {
	s := samples{}
	s.addScan(r)
	s.addClusters(r)
	for _, release := range r.Releases {
		s.addRelease(release)
	}
	return s.document(), nil
}

// addScan adds the samples about the report as a whole.
func (s samples) addScan(r *report.Report) {
	s.add("helmdrift_build_info", labels("version", r.Helmdrift), 1)
	s.add("helmdrift_scan_timestamp_seconds", "", float64(r.Time.Unix()))
	if r.Scan == nil {
		return
	}
	s.add("helmdrift_scan_duration_seconds", "", r.Scan.Seconds)
	if r.Scan.Requests > 0 {
		s.add("helmdrift_scan_requests", "", float64(r.Scan.Requests))
	}
	if shard := r.Scan.Shard; shard != nil {
		s.add("helmdrift_scan_shard", "", float64(shard.Index))
		s.add("helmdrift_scan_shards", "", float64(shard.Count))
	}
}

// addClusters adds the samples that every cluster has, whatever was found in it: zeros, the number of namespaces that could not be
// searched, and when the cluster was last read without an error. An error that belongs to no cluster may concern any of them, so
// after such an error no cluster counts as read.
func (s samples) addClusters(r *report.Report) {
	failed := map[string]bool{}
	if r.Scan != nil {
		for _, cluster := range r.Scan.Clusters {
			failed[cluster] = false
		}
	}
	for _, release := range r.Releases {
		failed[release.Cluster] = failed[release.Cluster] || release.HasError()
	}
	for _, e := range r.Errors {
		failed[e.Cluster] = true
		s.add("helmdrift_errors", labels("cluster", e.Cluster), 1)
	}
	anywhere := slices.ContainsFunc(r.Errors, func(e report.ScanError) bool { return e.Cluster == "" })
	for cluster, incomplete := range failed {
		where := labels("cluster", cluster)
		for _, name := range clusterCounts() {
			s.add(name, where, 0)
		}
		if !incomplete && !anywhere {
			s.add("helmdrift_last_success_timestamp_seconds", where, float64(r.TimeOf(cluster).Unix()))
		}
	}
}

// clusterCounts returns the names of the counts that every cluster has, if only a zero.
func clusterCounts() []string {
	return []string{"helmdrift_errors", "helmdrift_releases", "helmdrift_drifted_releases", "helmdrift_objects", "helmdrift_drifted_objects"}
}

// addRelease adds what a release contributes to its cluster, and its own samples if it has something to say. Its namespace is the
// namespace of its record, as in helmdrift diff -n: this namespace and the name identify a release.
func (s samples) addRelease(r report.Release) {
	cluster := labels("cluster", r.Cluster)
	s.add("helmdrift_releases", cluster, 1)
	s.add("helmdrift_objects", cluster, float64(r.Compared))
	release := cluster + "," + labels("namespace", cmp.Or(r.StorageNamespace, r.Namespace), "release", r.Name)
	drifted, failing, failed := 0, 0, len(r.Errors)
	for _, o := range r.Objects {
		drifted += layout.OneIf(o.Drifted)
		failing += layout.OneIf(o.Action == report.ActionFail && o.IgnoredBy == nil && !o.Known)
		failed += layout.OneIf(o.Error != nil)
		for _, f := range o.Fields {
			s.addField(f, cluster, release)
		}
	}
	s.add("helmdrift_drifted_objects", cluster, float64(drifted))
	s.add("helmdrift_errors", cluster, float64(failed))
	if r.Drifted {
		s.add("helmdrift_drifted_releases", cluster, 1)
		s.add("helmdrift_release_drifted", release, 1)
		s["helmdrift_release_drifted"][release] = 1
		s.add("helmdrift_release_drifted_objects", release, float64(drifted))
	}
	s.addSome("helmdrift_release_failing_objects", release, failing)
	s.addSome("helmdrift_release_errors", release, failed)
}

// addField adds a finding to the counts of its cluster and of its release.
func (s samples) addField(f report.Finding, cluster, release string) {
	if f.Silenced() {
		return
	}
	kind := "," + labels("verdict", string(f.Verdict), "cause", string(f.Cause))
	s.add("helmdrift_fields", cluster+kind, 1)
	if f.Drifted() {
		s.add("helmdrift_release_drifted_fields", release+kind, 1)
	}
	if f.Verdict == report.Conflict {
		s.add("helmdrift_release_conflicts", release, 1)
	}
}

// addSome adds n to a sample. The sample does not exist while only 0 was added.
func (s samples) addSome(name, labels string, n int) {
	if n > 0 {
		s.add(name, labels, float64(n))
	}
}

// add adds a value to a sample.
func (s samples) add(name, labels string, value float64) {
	if s[name] == nil {
		s[name] = map[string]float64{}
	}
	s[name][labels] += value
}

// document returns the text of all samples, in the order of the families and then of the labels. A family without a sample is left out.
func (s samples) document() []byte {
	var out bytes.Buffer
	for _, f := range families() {
		if len(s[f.name]) == 0 {
			continue
		}
		fmt.Fprintf(&out, "# HELP %s %s\n# TYPE %s gauge\n", f.name, f.help, f.name)
		if f.unit != "" {
			fmt.Fprintf(&out, "# UNIT %s %s\n", f.name, f.unit)
		}
		for _, labels := range slices.Sorted(maps.Keys(s[f.name])) {
			value := strconv.FormatFloat(s[f.name][labels], 'f', -1, 64)
			if labels != "" {
				labels = "{" + labels + "}"
			}
			fmt.Fprintf(&out, "%s%s %s\n", f.name, labels, value)
		}
	}
	out.WriteString("# EOF\n")
	return out.Bytes()
}

// labels writes names and values of labels as a sample has them, without the braces.
func labels(pairs ...string) string {
	var all []string
	for pair := range slices.Chunk(pairs, 2) {
		all = append(all, pair[0]+`="`+labelValue(pair[1])+`"`)
	}
	return strings.Join(all, ",")
}

// labelValue escapes a text for the quotes around the value of a label. The format can escape only quotes, backslashes and line breaks.
// Other characters that cannot be shown are written as in the text format, and the value of the label is that escape.
func labelValue(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(escape.Text(text, false))
}

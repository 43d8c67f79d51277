package output

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/output/reporttest"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestPrometheusGolden compares the metrics of a fleet and of single releases. The test module test/deploy reads the same files with
// Prometheus's own parsers.
func TestPrometheusGolden(t *testing.T) {
	fleet := reporttest.Documents[report.Report](t, "testdata/prometheus")["fleet"]
	want := report.NewScan(fleet.Helmdrift, fleet.Time, fleet.Releases, fleet.Errors, *fleet.Scan).Summary
	if diff := cmp.Diff(want, fleet.Summary); diff != "" {
		t.Errorf("summary of the fleet (-want +got):\n%s", diff)
	}
	all := map[string]*report.Report{"fleet": fleet}
	for _, name := range []string{"clean", "drift", "errors", "hostile"} {
		all[name] = reports(t)[name]
	}
	for name, r := range all {
		golden(t, filepath.Join("testdata", "prometheus", name+".prom"), render(t, Prometheus, r, Options{}))
	}
}

// TestPrometheusAddsUpToTheSummary: the totals of the clusters equal the totals of the report.
func TestPrometheusAddsUpToTheSummary(t *testing.T) {
	all := reports(t)
	all["fleet"] = reporttest.Documents[report.Report](t, "testdata/prometheus")["fleet"]
	for name, r := range all {
		out := string(render(t, Prometheus, r, Options{}))
		s := r.Summary
		for metric, want := range map[string]int{
			"helmdrift_errors": s.Errors, "helmdrift_releases": s.Releases, "helmdrift_drifted_releases": s.DriftedReleases,
			"helmdrift_objects": s.Objects, "helmdrift_drifted_objects": s.DriftedObjects, "helmdrift_fields": s.Managed + s.Unmanaged,
			"helmdrift_release_drifted": s.DriftedReleases,
		} {
			sum := 0.0
			for _, value := range regexp.MustCompile(`(?m)^`+metric+`\{.*\} (.*)$`).FindAllStringSubmatch(out, -1) {
				var n float64
				if _, err := fmt.Sscan(value[1], &n); err != nil {
					t.Fatal(err)
				}
				sum += n
			}
			if int(sum) != want {
				t.Errorf("%s: %s adds up to %v, the summary has %d", name, metric, sum, want)
			}
		}
	}
}

// TestPrometheusSeveralDeployers: a release with two deployers drifted once, and each of its comparisons counts in the totals, as in the
// summary.
func TestPrometheusSeveralDeployers(t *testing.T) {
	r := report.Release{Cluster: "a", StorageNamespace: "prod", Name: "web", Drifted: true, Compared: 2, Objects: []report.Object{{Drifted: true}}}
	out := string(render(t, Prometheus, report.New("v", fixedTime, []report.Release{r, r}), Options{}))
	for _, want := range []string{
		`helmdrift_release_drifted{cluster="a",namespace="prod",release="web"} 1`, `helmdrift_drifted_releases{cluster="a"} 2`,
		`helmdrift_release_drifted_objects{cluster="a",namespace="prod",release="web"} 2`, `helmdrift_objects{cluster="a"} 4`,
	} {
		if !strings.Contains(out, want+"\n") {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

// TestPrometheusIsBounded: a release that did not drift has no sample, whatever else was found in it, and a drifted one has at most 15.
func TestPrometheusIsBounded(t *testing.T) {
	lines := func(releases ...report.Release) int {
		return strings.Count(string(render(t, Prometheus, report.New("v", fixedTime, releases), Options{})), "cluster=")
	}
	few := lines(report.Release{Cluster: "a", Name: "first"})
	var releases []report.Release
	for i := range 1000 {
		var fields []report.Finding
		for k := range 100 {
			fields = append(fields, report.Finding{Path: fmt.Sprint(k), Verdict: report.Ignore, Cause: report.CauseDrift})
		}
		r := report.Release{Cluster: "a", Namespace: fmt.Sprint(i), Name: "web", Objects: []report.Object{{Fields: fields}}}
		releases = append(releases, r)
	}
	if many := lines(releases...); many != few+1 {
		t.Errorf("1,000 clean releases have %d samples, one has %d: want one more, for the unmanaged fields", many, few)
	}
	worst := report.Release{Cluster: "a", Name: "web", Drifted: true, Errors: []report.Message{{}}}
	for _, verdict := range []report.Verdict{report.Add, report.Remove, report.Overwrite, report.Ignore, report.Conflict} {
		for _, cause := range []report.Cause{report.CauseDrift, report.CauseChange, report.CauseBoth} {
			field := report.Finding{Verdict: verdict, Cause: cause, Managed: true}
			worst.Objects = append(worst.Objects, report.Object{Action: report.ActionFail, Fields: []report.Finding{field, field}})
		}
	}
	out := string(render(t, Prometheus, report.New("v", fixedTime, []report.Release{worst}), Options{}))
	if n := strings.Count(out, `release="web"`); n != 15 {
		t.Errorf("a release has %d samples, want 15:\n%s", n, out)
	}
}

// TestPrometheusLastSuccess: a cluster with any failure does not count as read, and after an error that belongs to no cluster none does.
func TestPrometheusLastSuccess(t *testing.T) {
	failed := []report.Object{{Error: &report.ObjectError{}}}
	releases := []report.Release{{Cluster: "a"}, {Cluster: "b", Objects: failed}, {Cluster: "b"}, {Cluster: "c"}}
	scan := report.Scan{Clusters: []string{"a", "b", "c", "d"}}
	for _, test := range []struct {
		errors []report.ScanError
		want   []string
	}{
		{nil, []string{"a", "c", "d"}},
		{[]report.ScanError{{Cluster: "c", Namespace: "x"}}, []string{"a", "d"}},
		{[]report.ScanError{{Code: "kubeconfig"}}, nil},
	} {
		out := string(render(t, Prometheus, report.NewScan("v", fixedTime, releases, test.errors, scan), Options{}))
		var got []string
		success := regexp.MustCompile(`(?m)^helmdrift_last_success_timestamp_seconds\{cluster="(.)"\} 1795168800$`)
		for _, line := range success.FindAllStringSubmatch(out, -1) {
			got = append(got, line[1])
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("after %v (-want +got):\n%s\n%s", test.errors, diff, out)
		}
	}
}

// TestPrometheusLastSuccessOfMerged: a cluster whose report is older than the merged one was last read then.
func TestPrometheusLastSuccessOfMerged(t *testing.T) {
	scan := report.Scan{Clusters: []string{"a", "b"}, Times: map[string]time.Time{"b": fixedTime.Add(-time.Hour)}}
	out := string(render(t, Prometheus, report.NewScan("v", fixedTime, nil, nil, scan), Options{}))
	for cluster, at := range map[string]int64{"a": fixedTime.Unix(), "b": fixedTime.Unix() - 3600} {
		if want := fmt.Sprintf("helmdrift_last_success_timestamp_seconds{cluster=%q} %d\n", cluster, at); !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

// TestPrometheusEscapes: a name can end neither its quotes nor its line, and cannot move the cursor of a terminal.
func TestPrometheusEscapes(t *testing.T) {
	for _, c := range hostile() {
		checkRaw(t, render(t, Prometheus, reportOf(c.in), Options{}))
	}
	r := &report.Report{Releases: []report.Release{{Cluster: `a"} 1`, StorageNamespace: `b\`, Name: "c\n# EOF\x1b\u202e\xff", Drifted: true}}}
	want := `helmdrift_release_drifted{cluster="a\"} 1",namespace="b\\",release="c\\n# EOF\\x1b\\u202e\\xff"} 1` + "\n"
	if out := string(render(t, Prometheus, r, Options{})); !strings.Contains(out, want) {
		t.Errorf("no\n%s\nin\n%s", want, out)
	}
}

// TestFixHasNoMetrics: the format is refused for the result of a fix.
func TestFixHasNoMetrics(t *testing.T) {
	err := WriteFix(nil, Prometheus, &report.FixResult{}, Options{})
	if err == nil || !strings.Contains(err.Error(), "only a report has this format") {
		t.Errorf("%v, want a refusal", err)
	}
}

package text

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/reporttest"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// scanOf returns the report of a scan of releases.
func scanOf(releases []report.Release, errors ...report.ScanError) *report.Report {
	return report.NewScan("v0", fixedTime, releases, errors, report.Scan{Clusters: []string{"dev"}, Seconds: 4.06})
}

// cleanRelease returns the i-th release of a scan, without findings.
func cleanRelease(i int) report.Release {
	namespace := fmt.Sprintf("team-%d", i%40)
	return report.Release{
		Name: fmt.Sprintf("app-%d", i), Namespace: namespace, StorageNamespace: namespace, Cluster: "dev", Operation: report.OperationDrift,
		Old: &report.Revision{Revision: i%7 + 1, Status: "deployed", Chart: "app-1.0.0"}, Compared: 15,
		Warnings: []report.Message{}, Errors: []report.Message{}, NotCompared: []report.NotCompared{}, Objects: []report.Object{},
	}
}

// changedRelease returns a release with n changed fields. All of them drifted, or none.
func changedRelease(i, n int, managed bool) report.Release {
	rel := cleanRelease(i)
	o := report.Object{
		APIVersion: "apps/v1", Kind: "Deployment", Namespace: rel.Namespace, Name: rel.Name, Action: report.ActionUpdate, Drifted: managed,
	}
	for j := range n {
		at := fixedTime.Add(-time.Duration(i*(j+1)) * time.Minute)
		o.Fields = append(o.Fields, report.Finding{
			ID: fmt.Sprint(j), Path: fmt.Sprintf("spec.field%d", j), Pointer: fmt.Sprintf("/spec/field%d", j), Verdict: report.Overwrite,
			Cause: report.CauseDrift, Managed: managed, Certain: true, Old: "a", Desired: "a", Live: "b",
			Owners: []report.Owner{{Manager: []string{"kubectl-edit", "k9s", "rancher"}[(i+j)%3], Operation: "Update", Time: &at}},
		})
	}
	rel.Objects, rel.Drifted = []report.Object{o}, managed
	return rel
}

// failedRelease returns a release that could not be compared.
func failedRelease(i int, message string, about *report.Subject) report.Release {
	rel := cleanRelease(i)
	rel.Old, rel.Compared, rel.Errors = nil, 0, []report.Message{{Code: "read", Message: message, Subject: about}}
	return rel
}

// TestFleet writes a scan of 3,000 releases: 150 drifted, 30 changed, and 500 could not be compared for the same reason but one.
func TestFleet(t *testing.T) {
	var releases []report.Release
	for i := range 3000 {
		rel := cleanRelease(i)
		switch {
		case i%20 == 7:
			rel = changedRelease(i, i%3+1, true)
		case i%100 == 50:
			rel = changedRelease(i, 2, false)
		case i%6 == 4 && i != 4:
			rel = failedRelease(i, fmt.Sprintf("list secrets in %s: the record sh.helm.release.v1.%s.v3 is forbidden", rel.Namespace, rel.Name),
				&report.Subject{Verb: "list", Resource: "secrets", Namespace: rel.Namespace, Reason: "forbidden"})
		case i == 4:
			rel = failedRelease(i, "the record is cut off", nil)
		}
		releases = append(releases, rel)
	}
	r := scanOf(releases)
	reporttest.ValidateReport(t, encoded(t, r))
	reporttest.Golden(t, *update, filepath.Join("testdata", "fleet.80.txt"), Report(r, layout.Options{Unicode: true, Width: 80}))
	verbose := string(Report(r, layout.Options{Unicode: true, Verbose: true}))
	for _, rel := range releases {
		if line := fmt.Sprintf("  %s ", rel.Name); !strings.Contains(verbose, line) {
			t.Errorf("-v does not list %s", rel.Name)
		}
		if details := strings.Contains(verbose, "\nrelease "+rel.Name+" in"); details != (rel.State() != report.StateClean) {
			t.Errorf("-v has details of %s, which is %s: %t", rel.Name, rel.State(), details)
		}
	}
}

// TestOverviewListsFewCleanReleases: up to ten clean releases have a line, and more of them none.
func TestOverviewListsFewCleanReleases(t *testing.T) {
	for _, c := range []struct{ clean, drifted, lines int }{{0, 1, 2}, {10, 0, 11}, {10, 2, 13}, {11, 0, 0}, {11, 2, 3}, {300, 2, 3}} {
		var releases []report.Release
		for i := range c.clean {
			releases = append(releases, cleanRelease(i))
		}
		for i := range c.drifted {
			releases = append(releases, changedRelease(i, 1, true))
		}
		out := string(Report(scanOf(releases), layout.Options{Unicode: true}))
		lines := 0
		for _, l := range strings.Split(out, "\n") {
			lines += layout.OneIf(strings.HasPrefix(l, "state  ") || strings.HasPrefix(l, "clean  ") || strings.HasPrefix(l, "drifted  "))
		}
		if lines != c.lines {
			t.Errorf("%d clean and %d drifted releases have %d lines, want %d:\n%s", c.clean, c.drifted, lines, c.lines, out)
		}
	}
}

// TestScanAnswers compares the answers and the last lines of scans.
func TestScanAnswers(t *testing.T) {
	unread := func(namespace string) report.ScanError {
		return report.ScanError{Cluster: "dev", Namespace: namespace, Code: "forbidden", Message: "no secrets in namespace " + namespace,
			Subject: &report.Subject{Verb: "list", Resource: "secrets", Namespace: namespace, Reason: "forbidden"}}
	}
	drifted, changed, broken := changedRelease(1, 2, true), changedRelease(2, 1, false), changedRelease(3, 1, true)
	broken.Errors = []report.Message{{Code: "x", Message: "no"}}
	warned := cleanRelease(4)
	warned.Warnings = []report.Message{{Code: "w", Message: "a"}, {Code: "w", Message: "b"}}
	unseen := "  ERROR     not everything could be searched and read"
	for name, c := range map[string]struct {
		report *report.Report
		want   []string
	}{
		"nothing found": {scanOf(nil), []string{"no releases found on dev · 4.1 s", "  do        helmdrift list -A lists the releases of all namespaces"}},
		"nothing found where it was searched": {scanOf(nil, unread("ops")), []string{
			"no releases found on dev, but not everything could be searched · 4.1 s", unseen,
			"could not search namespace ops on dev: no secrets in namespace ops", "incomplete: the releases of 1 namespace are not in this report",
		}},
		"nothing searched": {scanOf(nil, report.ScanError{Cluster: "dev", Code: "x", Message: "no"}), []string{
			"no releases found, but not everything could be searched · 4.1 s", unseen, "could not search cluster dev: no",
			"incomplete: the releases of 1 cluster are not in this report",
		}},
		"a cluster searched twice": {scanOf(nil, report.ScanError{Cluster: "dev", Code: "x", Message: "no"}, report.ScanError{Cluster: "dev", Code: "x", Message: "no"}),
			[]string{"incomplete: the releases of 1 cluster are not in this report"}},
		"a cluster without a name": {report.NewScan("v0", fixedTime, nil, []report.ScanError{{Message: "no"}}, report.Scan{}), []string{
			"no releases found, but not everything could be searched", unseen, "could not search the cluster: no",
			"incomplete: the releases of 1 cluster are not in this report",
		}},
		"all clean": {scanOf([]report.Release{cleanRelease(1), cleanRelease(2)}), []string{
			"2 releases: 2 clean · 4.1 s", "  CLEAN     no drift: 30 objects compared", "  do        nothing",
		}},
		"every state": {scanOf([]report.Release{drifted, changed, broken, cleanRelease(9)}), []string{
			"4 releases: 1 drifted, 1 changed, 1 error (1 drifted), 1 clean · 4.1 s",
			"  DRIFTED   3 fields in 2 of 60 objects; newest edit 1 min ago", unseen,
			"  by        k9s 1, kubectl-edit 1, rancher 1", "  upgrade   puts back 3 drifted fields and puts back 1 unmanaged field",
			"the comparison is incomplete: 1 error",
		}},
		"a warning without details": {scanOf([]report.Release{warned}), []string{
			"1 release: 1 clean · 4.1 s", "  CLEAN     no drift: 15 objects compared", "2 warnings about 1 release (see -v)",
		}},
		"what could not be searched is not clean": {scanOf([]report.Release{cleanRelease(1)}, unread("a"), unread("b"), unread("c")), []string{
			"1 release: 1 clean · 4.1 s", "  ERROR     no drift seen in 15 of 15 objects", "  do        resolve the errors, then compare again",
			"could not search namespace a on dev: no secrets in namespace a", "│ the same for 2 more: namespace b on dev, namespace c on dev",
			"incomplete: the releases of 3 namespaces are not in this report",
		}},
		"a name that no release has": {scanOf([]report.Release{cleanRelease(1)},
			report.ScanError{Cluster: "dev", Code: report.ErrorNotFound, Message: "there is no release x in any namespace"}), []string{
			"1 release: 1 clean · 4.1 s", "error: there is no release x in any namespace",
		}},
		"only a name that no release has": {
			scanOf(nil, report.ScanError{Cluster: "dev", Code: report.ErrorNotFound, Message: "there is no release x"}),
			[]string{"no releases found on dev · 4.1 s", "error: there is no release x"},
		},
		"a shard": {report.NewScan("v0", fixedTime, []report.Release{cleanRelease(1)}, nil, report.Scan{
			Clusters: []string{"dev", "prod"}, Seconds: 700, Shard: &report.Shard{Index: 2, Count: 8},
		}), []string{"1 release on 2 clusters in shard 2/8: 1 clean · 11 min"}},
	} {
		wantLines(t, name, string(Report(c.report, layout.Options{Unicode: true})), c.want...)
	}
}

// TestTroubles: errors with one cause are written once, whatever their messages name.
func TestTroubles(t *testing.T) {
	subject := func(verb, name, reason string) *report.Subject {
		return &report.Subject{Verb: verb, Resource: "secrets", Namespace: "team", Name: name, Reason: reason}
	}
	type failure struct {
		message string
		about   *report.Subject
	}
	const apart, once = "error: app-0 in team-0 on dev: %s\nerror: app-1 in team-1 on dev: %s\n",
		"error: app-0 in team-0 on dev: %s\n│ the same for 1 more: app-1 in team-1 on dev\n"
	for name, c := range map[string]struct {
		a, b failure
		want string
	}{
		"the same": {failure{"no", nil}, failure{"no", nil}, fmt.Sprintf(once, "no")},
		"the names differ": {failure{"get secrets/sh.helm.release.v1.app-0.v3 in team-0", subject("get", "sh.helm.release.v1.app-0.v3", "no")},
			failure{"get secrets/sh.helm.release.v1.app-1.v12 in team-1", subject("get", "sh.helm.release.v1.app-1.v12", "no")},
			fmt.Sprintf(once, "get secrets/sh.helm.release.v1.app-0.v3 in team-0")},
		// A pattern of words took such names apart.
		"names with dots": {failure{"get web.v1", subject("get", "web.v1", "no")}, failure{"get web.v2", subject("get", "web.v2", "no")},
			fmt.Sprintf(once, "get web.v1")},
		// Without their names, app-0 and app-1, the messages are equal.
		"names that are the verb": {failure{"app-0 it", subject("app-0", "", "no")}, failure{"app-1 it", subject("app-1", "", "no")},
			fmt.Sprintf(apart, "app-0 it", "app-1 it")},
		"another verb": {failure{"no", subject("get", "", "no")}, failure{"no", subject("list", "", "no")}, fmt.Sprintf(apart, "no", "no")},
		"another reason": {failure{"app-0: 403", subject("get", "a", "403")}, failure{"app-1: 500", subject("get", "b", "500")},
			fmt.Sprintf(apart, "app-0: 403", "app-1: 500")},
		"a report of an older version": {failure{"app-0: no", nil}, failure{"app-1: no", nil}, fmt.Sprintf(apart, "app-0: no", "app-1: no")},
		"several lines":                {failure{"a\nb", nil}, failure{"a\nb", nil}, fmt.Sprintf(once, "a\n│ b")},
	} {
		scan := scanOf([]report.Release{failedRelease(0, c.a.message, c.a.about), failedRelease(1, c.b.message, c.b.about)})
		if out := string(Report(scan, layout.Options{Unicode: true})); !strings.Contains(out, "\n\n"+c.want+"\n") {
			t.Errorf("%s:\n%s\nwant\n%s", name, out, c.want)
		}
	}
	var releases []report.Release
	for i := range 30 {
		releases = append(releases, failedRelease(i, fmt.Sprintf("error number %d", i), nil))
	}
	out := string(Report(scanOf(releases), layout.Options{}))
	if !strings.Contains(out, "\nerror: 10 more messages (see -v)\n\nthe comparison is incomplete: 30 errors\n") {
		t.Errorf("many messages are written as\n%s", out)
	}
	var errors []report.ScanError
	for i := range 9 {
		errors = append(errors, report.ScanError{Cluster: "dev", Namespace: fmt.Sprintf("n%d", i), Message: "no"})
	}
	out = string(Report(scanOf(nil, errors...), layout.Options{Verbose: true}))
	if !strings.Contains(out, "the same for 8 more: namespace n1 on dev, ") || !strings.Contains(out, ", namespace n8 on dev\n") {
		t.Errorf("with -v, many namespaces are written as\n%s", out)
	}
	// Without its name, nobody would find the second record of a namespace.
	errors = nil
	for _, name := range []string{"sh.helm.release.v1.a.v1", "sh.helm.release.v1.b.v1"} {
		errors = append(errors, report.ScanError{Cluster: "dev", Namespace: "ops", Message: name + " has no label name",
			Subject: subject("read", name, "it has no label name")})
	}
	out = string(Report(scanOf(nil, errors...), layout.Options{}))
	if strings.Count(out, " has no label name\n") != 2 {
		t.Errorf("two records of a namespace are written as\n%s", out)
	}
}

// TestAdviceOfAScan: the command that fixes a release is named if only one drifted.
func TestAdviceOfAScan(t *testing.T) {
	opts := layout.Options{Fix: "helmdrift fix web", Plan: []report.FixPlan{{Fields: make([]report.Finding, 1)}}}
	one := []report.Release{changedRelease(1, 1, true)}
	const advice = "  do        helmdrift fix web, or keep the edits: helmdrift absorb"
	wantLines(t, "one release", string(Report(scanOf(one), opts)), advice)
	wantLines(t, "one of two", string(Report(scanOf(append(one, cleanRelease(2))), opts)),
		"  do        helmdrift fix app-1 -n team-1 --dry-run, or keep the edits: helmdrift absorb")
	two := string(Report(scanOf(append(one, changedRelease(2, 1, true))), layout.Options{}))
	wantLines(t, "two", two, "  do        one release: helmdrift diff NAME -n NAMESPACE, then helmdrift fix")
}

// TestScanLeavesTheReportAlone: other formats are written from the same report, whose releases keep their order.
func TestScanLeavesTheReportAlone(t *testing.T) {
	for name, r := range reports(t) {
		before := string(encoded(t, r))
		Report(r, layout.Options{Width: 60, Verbose: true})
		if after := string(encoded(t, r)); after != before {
			t.Errorf("%s is another report after it was written as text", name)
		}
	}
}

package history

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/past"
)

// day returns a time of the test: noon of a day in November.
func day(n int) time.Time { return time.Date(2026, 11, n, 12, 0, 0, 0, time.UTC) }

// replicas returns a finding for spec.replicas with a live value; nil means that live lacks the
// field.
func replicas(live any, managers ...string) *report.Finding {
	f := &report.Finding{ID: "1", Path: "spec.replicas", Verdict: report.Overwrite, Cause: report.CauseDrift, Managed: true, Certain: true, Live: live}
	for _, name := range managers {
		f.Owners = append(f.Owners, report.Owner{Manager: name})
	}
	return f
}

// of returns a report on the release web at noon of a day, with the findings on its Deployment.
func of(n int, findings ...*report.Finding) *report.Report {
	rel := report.Release{Name: "web", Namespace: "prod", StorageNamespace: "prod", Cluster: "dev", Operation: report.OperationDrift, Compared: 3,
		Old: &report.Revision{Revision: 4}}
	o := deployment()
	for _, f := range findings {
		o.Fields = append(o.Fields, *f)
	}
	if len(findings) > 0 {
		rel.Objects = []report.Object{o}
	}
	r := report.New("test", day(n), []report.Release{rel})
	r.Recount()
	return r
}

func deployment() report.Object {
	return report.Object{ID: "o", APIVersion: "apps/v1", Kind: "Deployment", Namespace: "prod", Name: "web", Action: report.ActionUpdate}
}

// changed returns a report after a change to its only release.
func changed(r *report.Report, change func(*report.Release)) *report.Report {
	change(&r.Releases[0])
	r.Recount()
	return r
}

// TestHistory compares the history of a series of reports on one release: a line for each finding, and the drifted fields and objects at
// each time.
func TestHistory(t *testing.T) {
	silenced := replicas(int64(5))
	silenced.IgnoredBy = &report.IgnoreRule{Rule: "--ignore /spec/replicas"}
	leftOut := replicas(int64(6))
	leftOut.IgnoredBy = &report.IgnoreRule{Rule: "--only", LeftOut: true}
	deleted := &report.Finding{ID: "2", Path: "spec.replicas", Verdict: report.Add, Cause: report.CauseDrift, Managed: true, Certain: true}
	masked := replicas(nil)
	masked.Masked = true
	planned := replicas(int64(2))
	planned.Cause = report.CauseChange
	unmanaged := replicas("x", "k9s")
	unmanaged.Managed, unmanaged.Path = false, "metadata.labels.x"
	failed := func(r *report.Release) { r.Errors = []report.Message{{Code: "forbidden", Message: "no"}} }
	unread := func(r *report.Release) {
		o := deployment()
		o.Error = &report.ObjectError{Code: "forbidden"}
		r.Objects = []report.Object{o}
	}
	missing := func(r *report.Release) {
		o := deployment()
		o.Missing, o.Action = true, report.ActionCreate
		r.Objects = []report.Object{o}
	}
	missingLeftOut := func(r *report.Release) {
		missing(r)
		r.Objects[0].IgnoredBy = leftOut.IgnoredBy
	}
	terminating := func(r *report.Release) {
		o := deployment()
		o.Terminating = true
		r.Objects = []report.Object{o}
	}
	upgrade := func(r *report.Release) { r.Operation = report.OperationUpgrade }
	for _, c := range []struct {
		name    string
		reports []*report.Report
		want    string
		points  string
	}{
		{"clean", []*report.Report{of(1), of(2)}, "", "0 0"},
		{"there", []*report.Report{of(1), of(2, replicas(int64(5), "kubectl")), of(5, replicas(int64(5), "kubectl"))},
			"spec.replicas there 2-5 3d once [kubectl]: 2 5 kubectl", "0 1 1"},
		{"gone", []*report.Report{of(1, replicas(int64(5))), of(3)}, "spec.replicas gone 1-1 until 3 2d once []: 1 5, 3 gone", "1 0"},
		{"came back", []*report.Report{of(1, replicas(int64(5), "kubectl")), of(2), of(4, replicas(int64(5), "k9s")), of(5, replicas(int64(5), "k9s"))},
			"spec.replicas there 1-5 2d twice flapping [kubectl k9s]: 1 5 kubectl, 2 gone, 4 5 k9s", "1 0 1 1"},
		{"one change", []*report.Report{of(1, replicas(int64(5))), of(2, replicas(int64(6)))},
			"spec.replicas there 1-2 1d once 1 changed []: 1 5, 2 6", "1 1"},
		{"changes", []*report.Report{of(1, replicas(int64(5), "a")), of(2, replicas(int64(6), "b")), of(3, replicas(int64(5), "a"))},
			"spec.replicas there 1-3 2d once 2 changed flapping [a b]: 1 5 a, 2 6 b, 3 5 a", "1 1 1"},
		{"another verdict", []*report.Report{of(1, replicas(int64(5), "a")), of(2, deleted)},
			"spec.replicas there 1-2 1d once 1 changed [a]: 1 5 a, 2 <nil>", "1 1"},
		{"masked", []*report.Report{of(1, masked), of(2, masked)}, "spec.replicas there 1-2 1d once []: 1 <nil>", "1 1"},
		{"masked later", []*report.Report{of(1, replicas(int64(5))), of(2), of(3, masked)},
			"spec.replicas there 1-3 1d twice flapping []: 1 <nil>, 2 gone, 3 <nil>", "1 0 1"},
		{"masked before", []*report.Report{of(1, masked), of(2, replicas(int64(5)))}, "spec.replicas there 1-2 1d once []: 1 <nil>", "1 1"},
		{"error of the release", []*report.Report{of(1, replicas(int64(5))), changed(of(2), failed), of(3, replicas(int64(5)))},
			"spec.replicas there 1-3 2d once []: 1 5", "1 1 1"},
		{"error of the object", []*report.Report{of(1, replicas(int64(5))), changed(of(2), unread)}, "spec.replicas there 1-1 0d once []: 1 5", "1 1"},
		{"object missing", []*report.Report{of(1, replicas(int64(5))), changed(of(2), missing), of(4)},
			"missing gone 2-2 until 4 2d once []: 2 <nil>, 4 gone; spec.replicas gone 1-1 until 4 3d once []: 1 5, 4 gone", "1 2 0"},
		{"terminating, then missing", []*report.Report{changed(of(1), terminating), changed(of(2), missing)},
			"missing there 2-2 0d once []: 2 <nil>; terminating gone 1-1 until 2 1d once []: 1 <nil>, 2 gone", "1 1"},
		{"silenced from the beginning", []*report.Report{of(1, silenced), of(2)}, "", "0 0"},
		{"silenced later", []*report.Report{of(1, replicas(int64(5))), of(2, silenced), of(3)},
			"spec.replicas gone 1-1 until 2 1d once []: 1 5, 2 ignored, 3 gone", "1 0 0"},
		{"left out", []*report.Report{of(1, replicas(int64(5))), of(2, leftOut), of(3, replicas(int64(5)))},
			"spec.replicas there 1-3 2d once []: 1 5", "1 1 1"},
		{"left out from the beginning", []*report.Report{of(1, leftOut), of(2, replicas(int64(5))), of(3)},
			"spec.replicas gone 2-2 until 3 1d once []: 2 5, 3 gone", "0 1 0"},
		{"missing, and left out", []*report.Report{changed(of(1), missing), changed(of(2), missingLeftOut), changed(of(3), missing)},
			"missing there 1-3 2d once []: 1 <nil>", "1 1 1"},
		{"only the chart", []*report.Report{of(1, planned)}, "", "0"},
		{"preview", []*report.Report{of(1, replicas(int64(5))), changed(of(2), upgrade)}, "spec.replicas there 1-1 0d once []: 1 5", "1 1"},
		{"unmanaged", []*report.Report{of(1, unmanaged)}, "metadata.labels.x there 1-1 0d once unmanaged [k9s]: 1 x k9s", "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b Builder
			for _, r := range c.reports {
				if err := b.Add(r); err != nil {
					t.Fatal(err)
				}
			}
			h := b.History("test")
			var points []string
			for _, p := range h.Points {
				points = append(points, fmt.Sprint(p.Findings))
			}
			if diff := cmp.Diff(c.want, describe(h)); diff != "" {
				t.Error(diff)
			}
			if got := strings.Join(points, " "); got != c.points {
				t.Errorf("points are %s, want %s", got, c.points)
			}
		})
	}
}

// describe writes the findings of the only release.
func describe(h *past.History) string {
	var all []string
	for _, f := range h.Releases[0].Findings {
		said := fmt.Sprintf("%s%s %s %d-%d", f.Path, f.Absence, f.State, f.FirstSeen.Day(), f.LastSeen.Day())
		if f.Ended != nil {
			said += fmt.Sprintf(" until %d", f.Ended.Day())
		}
		said += fmt.Sprintf(" %dd %s", f.Seconds/86400, map[int]string{1: "once", 2: "twice"}[f.Periods])
		if f.Changes > 0 {
			said += fmt.Sprintf(" %d changed", f.Changes)
		}
		for word, is := range map[string]bool{"flapping": f.Flapping, "unmanaged": !f.Drifted} {
			if is {
				said += " " + word
			}
		}
		var steps []string
		for _, s := range f.Steps {
			step := fmt.Sprintf("%d %s", s.Time.Day(), s.State)
			if s.State == past.There {
				step = strings.Join(append([]string{fmt.Sprintf("%d %v", s.Time.Day(), s.Live)}, s.Managers...), " ")
			}
			steps = append(steps, step)
			if s.Revision != 4 {
				steps = append(steps, "without its revision")
			}
		}
		all = append(all, fmt.Sprintf("%s %v: %s", said, f.Managers, strings.Join(steps, ", ")))
	}
	return strings.Join(all, "; ")
}

// TestReleases checks that a release that a report lacks stays as it was, that the same name elsewhere is another release, and that
// releases that are not selected are left out.
func TestReleases(t *testing.T) {
	b := Builder{Selects: func(r report.Release) bool { return r.Name != "other" }}
	drifted, other := of(1, replicas(int64(5))), of(2)
	elsewhere := changed(of(2, replicas(int64(5))), func(r *report.Release) { r.StorageNamespace = "stage" })
	other.Releases[0].Name = "other"
	for _, r := range []*report.Report{drifted, elsewhere, other, changed(of(3), func(r *report.Release) { r.Operation = report.OperationUpgrade })} {
		if err := b.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	h := b.History("test")
	want := []past.Point{
		{Time: day(1), Releases: 1, Drifted: 1, Findings: 1}, {Time: day(2), Releases: 2, Drifted: 2, Findings: 2},
		{Time: day(3), Releases: 2, Drifted: 2, Findings: 2},
	}
	if diff := cmp.Diff(want, h.Points); diff != "" {
		t.Error(diff)
	}
	if len(h.Releases) != 2 || h.Reports != 4 || h.Previews != 1 || h.Releases[0].LastSeen != day(1) {
		t.Errorf("%d releases of %d reports, %d previews", len(h.Releases), h.Reports, h.Previews)
	}
	if err := b.Add(of(2)); !errors.Is(err, errOrder) {
		t.Errorf("an older report: %v", err)
	}
}

// TestDeployers checks that a release which two deployers name has two histories, so that what only one of them compares does not end.
func TestDeployers(t *testing.T) {
	var b Builder
	for n := range 2 {
		r := of(n+1, replicas(int64(5)))
		flux, helmfile := r.Releases[0], of(n + 1).Releases[0]
		flux.Deployer, helmfile.Deployer = &report.Deployer{Controller: report.ControllerFlux}, &report.Deployer{Controller: "helmfile"}
		r.Releases = []report.Release{flux, helmfile}
		r.Recount()
		if err := b.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	var said []string
	for _, rel := range b.History("test").Releases {
		state := "no findings"
		for _, f := range rel.Findings {
			state = fmt.Sprint(f.State, " in ", f.Periods, " period")
		}
		said = append(said, fmt.Sprintf("%s: %d reports, %s", rel.Deployer, rel.Reports, state))
	}
	if diff := cmp.Diff([]string{"Flux: 2 reports, there in 1 period", "helmfile: 2 reports, no findings"}, said); diff != "" {
		t.Error(diff)
	}
}

// TestMerged has a merged report: its releases have the times of their clusters, and older ones say nothing new.
func TestMerged(t *testing.T) {
	merged := func(n, cluster int, findings ...*report.Finding) *report.Report {
		r := of(n, findings...)
		r.Scan = &report.Scan{Times: map[string]time.Time{"dev": day(cluster)}}
		return r
	}
	b := &Builder{}
	for _, r := range []*report.Report{merged(5, 2, replicas(int64(5))), of(6), merged(7, 3, replicas(int64(5)))} {
		if err := b.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	rel := b.History("test").Releases[0]
	if f := rel.Findings[0]; rel.Reports != 2 || !rel.FirstSeen.Equal(day(2)) || !rel.LastSeen.Equal(day(6)) || f.State != past.Gone {
		t.Errorf("%d reports from %v to %v, and the finding is %s", rel.Reports, rel.FirstSeen, rel.LastSeen, f.State)
	}
}

// TestMemory checks that thousands of reports that each change a large value take no more memory than a
// few.
func TestMemory(t *testing.T) {
	var b Builder
	used := func(reports int) uint64 {
		for range reports {
			r := of(1, replicas(strings.Repeat("x", 1<<16)+fmt.Sprint(b.out.Reports), fmt.Sprint("manager-", b.out.Reports)))
			r.Time = day(1).Add(time.Duration(b.out.Reports) * time.Minute)
			if err := b.Add(r); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	few := used(100)
	many := used(5000)
	if many > few+2<<20 {
		t.Errorf("%d bytes after 100 reports, %d after 5,100", few, many)
	}
	f := b.History("test").Releases[0].Findings[0]
	if len(f.Steps) != maxSteps || len(f.Managers) != maxManagers || f.Changes != 5099 || f.Steps[0].Live != nil {
		t.Errorf("%d steps, %d managers, %d changes", len(f.Steps), len(f.Managers), f.Changes)
	}
}

package saved

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// part returns the report of one shard. Count 0 means a report that is not a shard.
func part(index, count int, names ...string) *report.Report {
	var releases []report.Release
	for _, name := range names {
		releases = append(releases, report.Release{Name: name, StorageNamespace: "prod", Cluster: "dev", Compared: 2, Drifted: name == "web"})
	}
	scan := report.Scan{Seconds: float64(index), Requests: 10, Clusters: []string{"dev"}}
	if count > 0 {
		scan.Shard = &report.Shard{Index: index, Count: count}
	}
	return report.NewScan("v1", time.Unix(int64(1000+index), 0), releases, []report.ScanError{{Code: "x", Message: "m"}}, scan)
}

func TestMerge(t *testing.T) {
	r, err := Merge("v2", []Named{{"b", part(1, 2, "web", "api", "api")}, {"a", part(0, 2, "db")}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, rel := range r.Releases {
		names = append(names, rel.Name)
	}
	if got := strings.Join(names, " "); got != "api api db web" {
		t.Errorf("releases %s", got)
	}
	s := r.Summary
	if s.Releases != 4 || s.Objects != 8 || s.DriftedReleases != 1 || s.Errors != 2 || len(r.Errors) != 2 {
		t.Errorf("summary %+v", s)
	}
	if r.Scan.Shard != nil || r.Scan.Requests != 20 || r.Scan.Seconds != 1 || len(r.Scan.Clusters) != 1 || r.Time.Unix() != 1001 {
		t.Errorf("scan %+v at %v", r.Scan, r.Time)
	}
}

// TestMergeOverlaps checks that an object that several parts have as an overlap is one overlap, with the claims of all parts, and that a
// manifest counts more than a mark.
func TestMergeOverlaps(t *testing.T) {
	claim := func(kind, name string, by report.ClaimSource) report.Claim {
		return report.Claim{Kind: kind, Name: name, By: by}
	}
	web, api := claim(report.ClaimRelease, "web", report.ClaimManifest), claim(report.ClaimRelease, "api", report.ClaimManifest)
	shop := claim(report.ClaimApplication, "shop", report.ClaimMark)
	overlap := func(cluster string, claims ...report.Claim) report.Overlap {
		return report.Overlap{
			ClaimedObject: report.ClaimedObject{Cluster: cluster, APIVersion: "v1", Kind: "ConfigMap", Namespace: "prod", Name: "c"}, Claims: claims,
		}
	}
	a, b := part(0, 2, "web"), part(1, 2, "api")
	a.Scan.Overlaps = []report.Overlap{overlap("dev", web, claim(report.ClaimRelease, "api", report.ClaimMark), shop)}
	b.Scan.Overlaps = []report.Overlap{overlap("dev", api, shop), overlap("stage", api, shop)}
	r, err := Merge("v", []Named{{"a", a}, {"b", b}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]report.Overlap{overlap("dev", api, web, shop), overlap("stage", api, shop)}, r.Scan.Overlaps); diff != "" {
		t.Error("want -, got +\n" + diff)
	}
	if len(a.Scan.Overlaps[0].Claims) != 3 || a.Scan.Overlaps[0].Claims[1].By != report.ClaimMark {
		t.Errorf("the merge has changed a part: %v", a.Scan.Overlaps)
	}
}

// TestMergeTimes checks that a cluster has the time of the oldest report that has it, also when the merged report is merged again.
func TestMergeTimes(t *testing.T) {
	at := func(seconds int64, clusters ...string) *report.Report {
		return report.NewScan("v1", time.Unix(seconds, 0), nil, nil, report.Scan{Clusters: clusters})
	}
	r, err := Merge("v", []Named{{"a", at(1000, "dev")}, {"b", at(3000, "stage", "dev")}, {"c", at(2000, "dev")}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]time.Time{"dev": time.Unix(1000, 0).UTC()}
	if diff := cmp.Diff(want, r.Scan.Times); diff != "" || r.Time.Unix() != 3000 {
		t.Errorf("at %v, want -, got +\n%s", r.Time, diff)
	}
	if r, err = Merge("v", []Named{{"d", at(4000, "prod")}, {"e", r}}); err != nil {
		t.Fatal(err)
	}
	want["stage"] = time.Unix(3000, 0).UTC()
	if diff := cmp.Diff(want, r.Scan.Times); diff != "" || !r.TimeOf("prod").Equal(time.Unix(4000, 0)) {
		t.Errorf("want -, got +\n%s", diff)
	}
}

// TestTimes checks that a release has the time at which its cluster was compared, also in a report that was merged before.
func TestTimes(t *testing.T) {
	at := func(seconds int64, cluster, name string) *report.Report {
		releases := []report.Release{{Cluster: cluster, StorageNamespace: "a", Name: name}}
		return report.NewScan("v1", time.Unix(seconds, 0), releases, nil, report.Scan{Clusters: []string{cluster}})
	}
	merged, err := Merge("v", []Named{{"a", at(1000, "dev", "web")}, {"b", at(3000, "stage", "web")}})
	if err != nil {
		t.Fatal(err)
	}
	times := Times([]Named{{"merged", merged}, {"c", at(2000, "dev", "api")}})
	for cluster, want := range map[string]map[string]int64{"dev": {"web": 1000, "api": 2000}, "stage": {"web": 3000}} {
		for name, seconds := range want {
			if got := times(report.Release{Cluster: cluster, StorageNamespace: "a", Name: name}); got.Unix() != seconds {
				t.Errorf("%s of %s was compared at %d, want %d", name, cluster, got.Unix(), seconds)
			}
		}
	}
}

// TestMergeIdle checks that a value of --only that matches nothing in a part is an error only if no part has a match, and then once.
func TestMergeIdle(t *testing.T) {
	idle := func(r *report.Report, values ...string) *report.Report {
		r.Errors, r.Scan.Idle = nil, values
		return r
	}
	for _, c := range []struct {
		parts []*report.Report
		want  string
	}{
		{[]*report.Report{idle(part(0, 2, "web"), "--only deploy/web"), idle(part(1, 2, "api"))}, ""},
		{[]*report.Report{idle(part(0, 2, "web"), "--only deploy/web", "--skip a"), idle(part(1, 2, "api"), "--skip a", "--only deploy/web")},
			"--only deploy/web matches nothing in any release"},
		{[]*report.Report{idle(part(0, 2)), idle(part(1, 2, "api"), "--only deploy/web")}, "--only deploy/web matches nothing in any release"},
		{[]*report.Report{idle(part(0, 2, "api"), "--skip deploy/web"), idle(part(1, 2))}, ""},
	} {
		r, err := Merge("v", []Named{{"a", c.parts[0]}, {"b", c.parts[1]}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range r.Errors {
			got = append(got, e.Message)
		}
		if strings.Join(got, "; ") != c.want || r.Summary.Errors != len(got) || r.Scan.Idle != nil {
			t.Errorf("errors %q, want %q; summary %d, idle %q", got, c.want, r.Summary.Errors, r.Scan.Idle)
		}
	}
}

// TestMergeNamed checks that a merged report says that nobody has looked for the overlaps of a release, also when it is merged again.
func TestMergeNamed(t *testing.T) {
	named := report.New("v1", time.Unix(1000, 0), []report.Release{{Name: "db", StorageNamespace: "prod"}})
	mixed, err := Merge("v2", []Named{{"a", part(0, 0, "web")}, {"b", named}})
	if err != nil || !mixed.Scan.Named {
		t.Fatal(mixed, err)
	}
	again, err := Merge("v2", []Named{{"c", mixed}, {"d", part(0, 0, "api")}})
	if err != nil || !again.Scan.Named {
		t.Error(again, err)
	}
	scans, err := Merge("v2", []Named{{"a", part(0, 0, "web")}, {"d", part(0, 0, "api")}})
	if err != nil || scans.Scan.Named {
		t.Error(scans, err)
	}
}

// TestMergeUnreached checks that the parts of one selection are merged if a cluster did not answer one of them.
func TestMergeUnreached(t *testing.T) {
	a, b := part(0, 2), part(1, 2)
	a.Scan.Clusters, b.Errors = []string{"dev", "prod"}, []report.ScanError{{Cluster: "prod"}}
	if r, err := Merge("v", []Named{{"a", a}, {"b", b}}); err != nil || len(r.Errors) != 2 {
		t.Error(r, err)
	}
}

func TestMergeRefuses(t *testing.T) {
	other := part(1, 2)
	other.Scan.Clusters = []string{"prod"}
	for want, reports := range map[string][]Named{
		"of 3 parts these are missing: 0, 2":                              {{"a", part(1, 3)}},
		"a and b are both part 0 of 2":                                    {{"a", part(0, 2)}, {"b", part(0, 2)}, {"c", part(1, 2)}},
		"a is one of 2 parts, and b one of 3":                             {{"a", part(0, 2)}, {"b", part(1, 3)}},
		"a is part 0 of 2, and b is no part":                              {{"a", part(0, 2)}, {"b", part(0, 0)}},
		"b is part 0 of 2, and a is no part":                              {{"a", part(0, 0)}, {"b", part(0, 2)}},
		`release web in namespace prod of cluster "dev" is in a and in b`: {{"a", part(0, 2, "web")}, {"b", part(1, 2, "web")}},
		"there is no report to merge":                                     nil,

		`b is no part of the selection of a: it is of the clusters ["prod"], not ["dev"]`: {{"a", part(0, 2)}, {"b", other}},
	} {
		if _, err := Merge("v", reports); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

package cli

import (
	"slices"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestSavedFilterClaims checks that orphans and overlaps go with their release, whichever namespace has its record. If a release is gone,
// its name and the namespace of its objects choose.
func TestSavedFilterClaims(t *testing.T) {
	orphan := func(cluster, namespace, release string) report.Orphan {
		return report.Orphan{ClaimedObject: report.ClaimedObject{Cluster: cluster, Name: release}, Release: release, ReleaseNamespace: namespace}
	}
	overlap := func(cluster string) report.Overlap {
		claims := []report.Claim{{Kind: report.ClaimRelease, Namespace: "prod", Name: "web"}, {Kind: report.ClaimApplication, Name: "web"}}
		return report.Overlap{ClaimedObject: report.ClaimedObject{Cluster: cluster}, Claims: claims}
	}
	for name, c := range map[string]struct {
		filter            SavedFilter
		orphans, overlaps int
	}{
		"namespace of the record":       {SavedFilter{namespace: "flux-system"}, 1, 1},
		"namespace of the objects":      {SavedFilter{namespace: "prod"}, 3, 1},
		"name":                          {SavedFilter{names: NameFilter{filter: "^web$"}}, 2, 2},
		"name of a release that's gone": {SavedFilter{names: NameFilter{filter: "^(api|gone)$"}}, 2, 0},
	} {
		r := report.NewScan("v", time.Unix(1, 0), []report.Release{
			{Name: "web", Namespace: "prod", StorageNamespace: "flux-system", Cluster: "a"},
			{Name: "web", Namespace: "prod", StorageNamespace: "prod", Cluster: "b"},
			{Name: "api", Namespace: "prod", StorageNamespace: "prod", Cluster: "a"},
		}, nil, report.Scan{
			Orphans: []report.Orphan{
				orphan("a", "prod", "web"), orphan("b", "prod", "web"), orphan("a", "prod", "api"), orphan("a", "prod", "gone"),
			},
			Overlaps: []report.Overlap{overlap("a"), overlap("b")},
		})
		if err := c.filter.Apply(r); err != nil {
			t.Fatal(name, err)
		}
		if len(r.Scan.Orphans) != c.orphans || len(r.Scan.Overlaps) != c.overlaps {
			t.Errorf("%s: %d orphans and %d overlaps, want %d and %d", name, len(r.Scan.Orphans), len(r.Scan.Overlaps), c.orphans, c.overlaps)
		}
	}
}

// TestSavedFilterUnknown checks that no flag leaves out a release whose place is not known.
func TestSavedFilterUnknown(t *testing.T) {
	for _, f := range []SavedFilter{{namespace: "prod"}, {names: NameFilter{filter: "^web$"}}, {names: NameFilter{exclude: "helm"}}} {
		unknown := report.Release{Name: "helm_release.web", Namespace: "default", StorageNamespace: "default", Errors: []report.Message{{Code: "x"}}}
		r := report.New("test", time.Unix(0, 0), []report.Release{unknown, {Name: "web", Namespace: "prod", StorageNamespace: "prod"},
			{Name: "api", Namespace: "prod", StorageNamespace: "prod"}})
		if err := f.Apply(r); err != nil || !slices.ContainsFunc(r.Releases, func(one report.Release) bool { return one.Name == unknown.Name }) {
			t.Errorf("%+v: %v, %v", f, r.Releases, err)
		}
	}
}

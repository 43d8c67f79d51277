package deploy

import (
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// alerts reads the rules as promtool check rules does, templates included, and returns them by name.
func alerts(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	const file = "../../deploy/prometheus/rules.yaml"
	groups, errs := rulefmt.ParseFile(file, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.Default())
	for _, err := range errs {
		t.Error(err)
	}
	if groups == nil {
		t.FailNow()
	}
	all := map[string]rulefmt.Rule{}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			all[rule.Alert] = rule
		}
	}
	return all
}

func TestRulesNameMetricsAndLabels(t *testing.T) {
	for name, rule := range alerts(t) {
		checkQuery(t, rule.Expr)
		if rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
			t.Errorf("%s lacks a severity or an annotation", name)
		}
	}
}

// TestAlerts evaluates each rule on the metrics of real reports: which series it selects, and how long they must stay before it fires.
func TestAlerts(t *testing.T) {
	start := time.Unix(1795168800, 0)
	releases := []report.Release{
		{Cluster: "prod", StorageNamespace: "shop", Name: "clean"},
		{Cluster: "prod", StorageNamespace: "shop", Name: "drifted", Drifted: true},
		{Cluster: "prod", StorageNamespace: "shop", Name: "conflict", Objects: []report.Object{{
			Action: report.ActionFail, Fields: []report.Finding{{Managed: true, Verdict: report.Conflict, Cause: report.CauseChange}},
		}}},
		{Cluster: "prod", StorageNamespace: "shop", Name: "immutable", Objects: []report.Object{{Action: report.ActionFail}}},
	}
	scan := report.Scan{Clusters: []string{"dev", "prod"}, Seconds: 1, Shard: &report.Shard{Index: 0, Count: 2}}
	broken := []report.ScanError{{Cluster: "prod", Namespace: "shop"}}
	text := func(at time.Time, errors []report.ScanError) string {
		return string(render(t, report.NewScan("v", at, slices.Clone(releases), errors, scan)))
	}
	// A scan succeeds. Half an hour later another does not, in prod, and its metrics stay.
	later, now := start.Add(30*time.Minute), start.Add(2*time.Hour+time.Minute)
	var h history
	h.scrape(t, text(start, nil), start, later)
	h.scrape(t, text(later, broken), later, now.Add(time.Minute))

	all := alerts(t)
	for _, test := range []struct {
		alert string
		wait  time.Duration
		want  map[string]float64
	}{
		{"HelmReleaseDrifted", time.Hour, map[string]float64{"prod shop drifted": 1}},
		{"HelmReleaseInConflict", 10 * time.Minute, map[string]float64{"prod shop conflict": 1}},
		{"HelmUpgradeWouldFail", 10 * time.Minute, map[string]float64{"prod shop immutable": 1}},
		{"HelmdriftErrors", time.Hour, map[string]float64{"prod": 1}},
		{"HelmdriftNoSuccess", 0, map[string]float64{"prod": 2*60*60 + 60}},
		{"HelmdriftAbsent", 2 * time.Hour, map[string]float64{}},
		{"HelmdriftShardMissing", 2 * time.Hour, map[string]float64{"": 1}},
	} {
		rule := all[test.alert]
		delete(all, test.alert)
		if got := time.Duration(rule.For); got != test.wait {
			t.Errorf("%s waits for %s, want %s", test.alert, got, test.wait)
		}
		if diff := cmp.Diff(test.want, h.query(t, rule.Expr, now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.alert, diff)
		}
	}
	if len(all) > 0 {
		t.Errorf("not tested: %v", slices.Sorted(maps.Keys(all)))
	}
	rules := alerts(t)
	if got := h.query(t, rules["HelmdriftNoSuccess"].Expr, start.Add(2*time.Hour)); len(got) > 0 {
		t.Errorf("two hours without success are too early an alert: %v", got)
	}
	if got := h.query(t, rules["HelmdriftAbsent"].Expr, now.Add(time.Hour)); len(got) != 1 {
		t.Errorf("no alert where there are no metrics: %v", got)
	}
}

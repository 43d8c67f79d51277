package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/history"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/past"
)

// at is when the generated reports were made.
var at = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// kinds are the kinds of the generated objects, and places the paths of their fields.
var (
	kinds  = []string{"Deployment", "ConfigMap", "Service", "StatefulSet", "Ingress"}
	places = []string{
		"spec.template.spec.containers[name=web].image", "spec.replicas", `data["application.yaml"]`,
		`metadata.annotations["example.com/owner"]`, "spec.template.spec.containers[name=web].resources",
	}
	editors = []string{"kubectl-edit", "kubectl-set", "k9s", "argocd-controller", "helm"}
	agos    = []time.Duration{20 * time.Minute, 5 * time.Hour, 3 * 24 * time.Hour, 30 * 24 * time.Hour}
)

// generate returns a report of releases with 10 objects of 5 findings each. Every tenth object is missing, and every third release could
// not be read in part.
func generate(releases int) *report.Report {
	var all []report.Release
	n := 0
	for i := range releases {
		namespace := fmt.Sprintf("team-%02d", i%17)
		r := report.Release{
			Name: fmt.Sprintf("shop-%03d", i), Namespace: namespace, StorageNamespace: namespace, Cluster: "eu-1",
			Operation: report.OperationDrift, Old: &report.Revision{Revision: 3 + i, Status: "deployed", Chart: "shop-1.2.0"},
			Desired: &report.Desired{Source: "record", Revision: 3 + i, Chart: "shop-1.2.0", Helm: "3"}, Compared: 12, Drifted: true,
		}
		if i%3 == 2 {
			r.Errors = []report.Message{{Code: "read", Message: "the namespace refuses to list secrets"}}
		}
		for k := range 10 {
			r.Objects = append(r.Objects, object(i, k, &n))
		}
		all = append(all, r)
	}
	return report.NewScan("0.1.0", at, all, nil, report.Scan{Clusters: []string{"eu-1"}, Seconds: 4})
}

// object returns an object with 5 findings, and adds 5 to n.
func object(release, k int, n *int) report.Object {
	o := report.Object{
		ID: fmt.Sprintf("%012x", release*100+k), APIVersion: "apps/v1", Kind: kinds[k%len(kinds)],
		Namespace: fmt.Sprintf("team-%02d", release%17), Name: fmt.Sprintf("shop-%03d-%d", release, k), Source: "shop/templates/deployment.yaml",
		Action: report.ActionUpdate, Engine: report.EngineStrategic, Drifted: true,
	}
	if k == 9 {
		o.Action, o.Missing = report.ActionCreate, true
	}
	if k == 0 {
		ready := 0
		o.Effect = &report.Effect{Text: "restarts 3 pods, none stays ready", Restarts: 3, LeastReady: &ready, Downtime: release%2 == 0}
	}
	for i, place := range places {
		written := at.Add(-agos[*n%len(agos)])
		f := report.Finding{
			ID: fmt.Sprintf("%012x", 1<<32+*n), Path: place, Verdict: report.Overwrite, Cause: report.CauseDrift, Managed: true, Certain: true,
			Old: fmt.Sprintf("registry/shop/web:%d.%d", release, k), Live: fmt.Sprintf("registry/shop/web:%d.%d-hotfix", release, k),
			Owners: []report.Owner{{Manager: editors[*n%len(editors)], Group: report.ManagerPerson, Operation: "Update", Time: &written}},
		}
		switch i {
		case 1:
			f.Old, f.Live = int64(2), int64(5)
		case 2:
			f.Old, f.Live = document("warn", *n), document("debug", *n)
		case 3:
			f.Verdict, f.Managed, f.Old = report.Ignore, false, nil
		case 4:
			f.Old = map[string]any{"limits": map[string]any{"cpu": "1", "memory": "1Gi"}}
			f.Live = map[string]any{"limits": map[string]any{"cpu": "4", "memory": "1Gi"}}
			f.Cause, f.Desired = report.CauseBoth, map[string]any{"limits": map[string]any{"cpu": "2", "memory": "1Gi"}}
		}
		if i != 4 {
			f.Desired = f.Old
		}
		if *n%40 == 7 {
			f.IgnoredBy = &report.IgnoreRule{Rule: "ignore[0]", Reason: "known"}
		}
		o.Fields = append(o.Fields, f)
		*n++
	}
	return o
}

// document returns the text of a configuration file.
func document(level string, n int) string {
	return fmt.Sprintf("server:\n  port: 8080\n  threads: %d\nlogging:\n  level: %s\n  format: json\n", n%64, level)
}

// generateHistory returns the history of 30 daily reports on five releases. The first is always clean. Of each other one, 13 fields
// drifted and some are fixed, and a field that no manifest names was added. On the last day, shop-4 got 65 more.
func generateHistory(t testing.TB) *past.History {
	t.Helper()
	var b history.Builder
	for day := range 30 {
		var all []report.Release
		for i := range 5 {
			r := report.Release{
				Name: fmt.Sprintf("shop-%d", i), Namespace: "team-a", StorageNamespace: "team-a", Cluster: "eu-1", Operation: report.OperationDrift,
			}
			o := report.Object{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "team-a", Name: r.Name}
			for n := range 13 + 65*min(1, day/29)*(i/4) {
				isFixed := i == 2 && day == 29 && n < 5
				if i == 0 || isFixed || n < 13 && day < n || n == 7 && day%3 == 0 {
					continue
				}
				f := report.Finding{
					ID: fmt.Sprint(n), Path: fmt.Sprintf("spec.template.spec.containers[name=web].env[name=LEVEL_%d].value", n), Verdict: report.Overwrite,
					Cause: report.CauseDrift, Managed: n != 11, Old: "info", Live: fmt.Sprintf("debug-%d", n%3), Owners: []report.Owner{{Manager: editors[n%5]}},
				}
				if !f.Managed {
					f.Verdict = report.Ignore
				}
				o.Fields = append(o.Fields, f)
			}
			o.Drifted = i > 0
			r.Objects, r.Drifted = []report.Object{o}, o.Drifted
			all = append(all, r)
		}
		if err := b.Add(report.NewScan("0.1.0", at.Add(time.Duration(day-30)*24*time.Hour), all, nil, report.Scan{Clusters: []string{"eu-1"}})); err != nil {
			t.Fatal(err)
		}
	}
	return b.History("0.1.0")
}

// historyPage returns the page of the generated history.
func historyPage(t testing.TB) []byte {
	t.Helper()
	doc, err := output.HistoryDocument(output.HTML, generateHistory(t), output.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

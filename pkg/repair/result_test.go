package repair

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// TestSecretsAreRepairedAndNotShown checks that the patch has the real value, that nothing that is shown has it, and that
// showing does not change the plan.
func TestSecretsAreRepairedAndNotShown(t *testing.T) {
	const canary = "hunter2-canary"
	for _, serverSide := range []bool{false, true} {
		w := newSite(t, `
apiVersion: v1
kind: Secret
metadata: {name: s}
stringData: {pw: hunter2-canary, deep: hunter2-canary-too}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {password: hunter2-canary}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: nginx
        env: [{name: DB_PASSWORD, value: hunter2-canary}, {name: X, value: x}]
        livenessProbe: {exec: {command: [ok]}}
`, "", serverSide)
		for _, o := range w.old {
			w.install(o)
		}
		w.drift(documents(t, `
apiVersion: v1
kind: Secret
metadata: {name: s}
data: {pw: bGl2ZS1jYW5hcnk=}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {password: live-canary}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: nginx
        env: [{name: X, value: x}]
        livenessProbe: {httpGet: {port: 80, httpHeaders: [{name: token, value: live-canary}]}}
`), true)
		p := w.plan(Options{})
		var patches []string
		for i := range p.Objects {
			patches = append(patches, patchText(t, &p.Objects[i]))
		}
		outcomes := []report.FixOutcome{{Object: report.ObjectKey{Key: p.Objects[0].Ref.Key}, Status: report.FixRefused, Reason: "denied: pw=" + canary + " bGl2ZS1jYW5hcnk="}}
		p.Declined = append(p.Declined, Declined{Ref: p.Objects[0].Ref, Reason: "it holds live-canary"})
		shown, err := json.Marshal(p.Result(threeway.Mask{}, outcomes))
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{canary, "live-canary", "bGl2ZS1jYW5hcnk", "aHVudGVyMi1jYW5hcnk"} {
			if strings.Contains(string(shown), secret) {
				t.Errorf("server-side %v: %s is shown in %s", serverSide, secret, shown)
			}
		}
		if all := strings.Join(patches, ""); !strings.Contains(all, "aHVudGVyMi1jYW5hcnk=") || strings.Count(all, canary) != 2 || strings.Contains(all, "***") {
			t.Errorf("server-side %v: the patches are %s", serverSide, all)
		}
		for i := range p.Objects {
			if after := patchText(t, &p.Objects[i]); after != patches[i] {
				t.Errorf("showing the plan changed the patch from %s to %s", patches[i], after)
			}
		}
		if open, _ := json.Marshal(p.Result(threeway.Mask{Show: true}, outcomes)); !strings.Contains(string(open), canary) {
			t.Errorf("what may be shown is not: %s", open)
		}
	}
}

func patchText(t *testing.T, o *ObjectPlan) string {
	t.Helper()
	body, err := o.Patch(o.source.Live)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestResultMatchesReport checks that ids and paths are the report's, that requests list every operation, and that what the
// plan leaves is declined.
func TestResultMatchesReport(t *testing.T) {
	w := driftedSite(t)
	p := w.plan(Options{})
	known := map[string]string{}
	for _, o := range p.comparison.Report(threeway.Mask{}).Objects {
		for _, f := range o.Fields {
			known[f.ID] = fmt.Sprint(f.Path, f.Old, f.Live, f.Masked, f.Verdict)
		}
	}
	p.Declined = append(p.Declined, Declined{Ref: p.Objects[0].Ref, ID: "x", Reason: "because", LeftOut: true})
	result := p.Result(threeway.Mask{}, []report.FixOutcome{{Object: report.ObjectKey{Key: p.Objects[0].Ref.Key}, Status: report.FixFixed}})
	for i, o := range result.Plan {
		for _, f := range o.Fields {
			if known[f.ID] != fmt.Sprint(f.Path, f.Old, f.Live, f.Masked, f.Verdict) {
				t.Errorf("%s: %s of the plan is not the report's: %s", o.Object, f.Path, known[f.ID])
			}
		}
		ops, err := p.Objects[i].operations(p.Objects[i].source.Live)
		if err != nil || len(o.Requests) != 2 || len(o.Requests[0].Operations) != len(ops) || o.UID != p.Objects[i].UID {
			t.Errorf("%s: the requests are %+v, the operations %d %v", o.Object, o.Requests, len(ops), err)
		}
	}
	n := len(result.Results)
	if left := result.Results[n-1]; n != 2 || left.Status != report.FixDeclined || left.Fields[0] != "x" || !left.LeftOut {
		t.Errorf("the results are %+v", result.Results)
	}
}

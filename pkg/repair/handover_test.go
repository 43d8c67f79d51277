package repair

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

const handOverManifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {disk: ssd}
      containers:
      - name: app
        image: nginx
        env: [{name: A, value: a}]
        ports: [{containerPort: 80}]
---
apiVersion: v1
kind: Secret
metadata: {name: s}
data: {a: YQ==}
stringData: {pw: hunter2}
`

// driftedSite returns a site where somebody has edited both objects.
func driftedSite(t *testing.T) *site { return driftedSiteOf(t, "helm") }

// driftedSiteOf returns such a site with a given deployer.
func driftedSiteOf(t *testing.T, deployer string) *site {
	w := newSite(t, handOverManifest, "", true)
	w.deployer = deployer
	for _, o := range w.old {
		if !w.install(o) {
			t.Fatal("the manifest cannot be applied")
		}
	}
	w.drift(documents(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {disk: hdd, more: x}
      containers:
      - {name: app, image: other, ports: [{containerPort: 81}], tty: true}
---
apiVersion: v1
kind: Secret
metadata: {name: s}
data: {a: eA==, pw: eA==, more: eA==}
`), true)
	return w
}

// TestHandOver checks that after the repair and the hand-over, the deployer owns what it owned before the drift, even if stringData was
// put back, that the repairer owns nothing, and that others keep what they own. The deployer is the helm command, or a program that uses
// Helm's library.
func TestHandOver(t *testing.T) {
	for _, deployer := range []string{"helm", "helm-controller", "mytool"} {
		t.Run(deployer, func(t *testing.T) { testHandOver(t, deployer) })
	}
}

func testHandOver(t *testing.T, deployer string) {
	w := driftedSiteOf(t, deployer)
	before := map[object.Ref]string{}
	fresh := newSite(t, handOverManifest, "", true)
	fresh.deployer = deployer
	for _, o := range fresh.old {
		fresh.install(o)
		before[o.Ref] = fresh.deployersFields(fresh.live[o.Ref])
	}
	p := w.plan(Options{})
	if len(p.Objects) != 2 || len(p.Declined) != 0 {
		t.Fatalf("planned %s", describe(t, p))
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		body, err := o.Patch(w.live[o.Ref])
		if err != nil {
			t.Fatal(err)
		}
		w.send(o.compared.Object, body, o.Manager)
		if ours := o.entriesOf(w.live[o.Ref]).ours; len(ours) != 1 {
			t.Errorf("%s: the repairer has %d entries before the hand-over", o.Ref.Key, len(ours))
		}
		w.checkHandedOver(o, true, before[o.Ref])
		if others := theirs(w.live[o.Ref]); !slices.Equal(others, []string{deployer, "kubectl-edit"}) {
			t.Errorf("%s: the managers are %v", o.Ref.Key, others)
		}
	}
	for _, o := range w.compare().Objects {
		for _, f := range o.Findings {
			if f.Drifted() || f.Verdict == report.Conflict {
				t.Errorf("%s: %s %s", o.Key, f.Verdict, f.Path)
			}
		}
	}
}

func theirs(object map[string]any) []string {
	var out []string
	for _, raw := range owners.RawEntries(object) {
		out = append(out, owners.OwnerOf(raw).Manager)
	}
	return out
}

// TestInterruptedRepairIsHandedOver checks that the next plan hands over, without a change, after a repair was interrupted when it had
// put the values back: it left its entry behind.
func TestInterruptedRepairIsHandedOver(t *testing.T) {
	w := driftedSite(t)
	first := w.plan(Options{})
	for i := range first.Objects {
		o := &first.Objects[i]
		body, err := o.Patch(w.live[o.Ref])
		if err != nil {
			t.Fatal(err)
		}
		w.send(o.compared.Object, body, o.Manager)
	}
	p := w.plan(Options{})
	if len(p.Objects) != 2 || p.Empty() {
		t.Fatalf("planned %s", describe(t, p))
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		if body, err := o.Patch(w.live[o.Ref]); body != nil || err != nil || len(o.Changes) != 0 {
			t.Errorf("%s: %s %v, where ownership alone is left", o.Ref.Key, body, err)
		}
		if shown := p.Result(threeway.Mask{}, nil).Plan[i]; !shown.HandOver || len(shown.Requests) != 1 {
			t.Errorf("%s is shown as %+v", o.Ref.Key, shown)
		}
		w.checkHandedOver(o, false, "")
	}
	if again := w.plan(Options{}); !again.Empty() {
		t.Errorf("planned again: %s", describe(t, again))
	}
	w2 := driftedSite(t)
	w2.live = w.live
	if p := w2.plan(Options{Skip: selectors(t, w2.compare(), "Secret/s")}); !p.Empty() {
		t.Errorf("planned %s", describe(t, p))
	}
}

// TestHandOverOfUnusualEntries checks managedFields that no release leaves by itself.
func TestHandOverOfUnusualEntries(t *testing.T) {
	entry := func(manager, operation, version, fields string) map[string]any {
		return map[string]any{
			"manager": manager, "operation": operation, "apiVersion": version, "fieldsType": "FieldsV1", "time": "2026-11-20T10:00:00Z",
			"fieldsV1": decoded(t, []byte(fields)),
		}
	}
	ours := entry("helmdrift", "Update", "apps/v1", `{"f:spec":{"f:replicas":{},"f:paused":{}}}`)
	more := entry("helmdrift", "Update", "apps/v1beta1", `{"f:spec":{"f:template":{"f:spec":{"f:nodeSelector":{}}}}}`)
	scale := entry("helmdrift", "Update", "apps/v1", `{"f:spec":{"f:replicas":{}}}`)
	scale["subresource"] = "scale"
	helms := entry("helm", "Apply", "apps/v1", `{"f:spec":{"f:selector":{}}}`)
	for name, c := range map[string]struct {
		entries []any
		want    string
	}{
		"nobody":            {nil, "null"},
		"not ours":          {[]any{helms, entry("kubectl-edit", "Update", "apps/v1", `{"f:spec":{"f:replicas":{}}}`), scale}, "null"},
		"no helm":           {[]any{ours}, `add /- helm Apply {"f:spec":{"f:replicas":{}}}, remove /0`},
		"two of ours":       {[]any{ours, helms, more}, `replace /1/fieldsV1 {"f:spec":{"f:replicas":{},"f:selector":{},"f:template":{"f:spec":{"f:nodeSelector":{}}}}}, remove /2, remove /0`},
		"nothing in common": {[]any{helms, entry("helmdrift", "Update", "apps/v1", `{"f:spec":{"f:paused":{}}}`)}, "remove /1"},
		"other version":     {[]any{entry("helm", "Apply", "apps/v1beta1", `{"f:spec":{"f:selector":{}}}`), ours}, "helm owns fields of it at another version than apps/v1"},
		"invalid fields":    {[]any{helms, map[string]any{"manager": "helmdrift", "operation": "Update", "fieldsV1": map[string]any{"x": int64(1)}}}, "an entry of its managedFields cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			w := driftedSite(t)
			p := w.plan(Options{})
			o := &p.Objects[slices.IndexFunc(p.Objects, func(o ObjectPlan) bool { return o.Ref.Kind == "Deployment" })]
			live, _ := object.Copy(w.live[o.Ref]).(map[string]any)
			live["metadata"].(map[string]any)["managedFields"] = c.entries
			body, err := o.HandOver(live)
			got := summary(t, body)
			if err != nil {
				got = err.Error()
			}
			if !strings.HasSuffix(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// summary returns the operations of an ownership patch that change something.
func summary(t *testing.T, body []byte) string {
	t.Helper()
	if body == nil {
		return "null"
	}
	var ops []operation
	if err := json.Unmarshal(body, &ops); err != nil {
		t.Fatal(err)
	}
	var out []string
	tested := map[string]bool{}
	for _, op := range ops {
		at := strings.TrimPrefix(op.Path, managedFields)
		entry, _ := op.Value.(map[string]any)
		switch {
		case op.Op == "test":
			tested[op.Path] = true
		case entry["manager"] != nil:
			out = append(out, op.Op+" "+at+" "+entry["manager"].(string)+" "+entry["operation"].(string)+" "+text(entry["fieldsV1"]))
		case op.Op == "remove":
			out = append(out, op.Op+" "+at)
		default:
			out = append(out, op.Op+" "+at+" "+text(op.Value))
		}
		for _, field := range []string{"/manager", "/operation", "/fieldsV1"} {
			if index, _, _ := strings.Cut(strings.TrimPrefix(at, "/"), "/"); op.Op != "test" && index != "-" && !tested[managedFields+"/"+index+field] {
				t.Errorf("%s %s without a test of its%s", op.Op, op.Path, field)
			}
		}
	}
	if !tested["/metadata/uid"] {
		t.Error("the uid is not tested")
	}
	return strings.Join(out, ", ")
}

package argo

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestDecide has the fields of an Application that matter, how it differs from its sources, and what the controller does.
func TestDecide(t *testing.T) {
	const synced = "status: {history: [{source: {path: a}, revision: r1}], operationState: {phase: Succeeded, syncResult: {source: {path: a}, revision: r1}}}"
	changes := difference{changes: true, revisions: []string{"r1"}}
	for name, c := range map[string]struct {
		application string
		d           difference
		action      report.DeployerAction
		putsBack    report.PutsBack
		reason      string
	}{
		"in sync":               {"spec: {syncPolicy: {automated: {}}}", difference{revisions: []string{"r1"}}, "none", "next-upgrade", "it is in sync"},
		"by hand":               {"spec: {}", changes, "none", "by-hand", "automated sync is off"},
		"automated but not now": {"spec: {syncPolicy: {automated: {enabled: false, selfHeal: true}}}", changes, "none", "by-hand", "automated sync is off"},
		"selfHeal":              {"spec: {syncPolicy: {automated: {selfHeal: true}}}", changes, "correct", "now", "selfHeal is on"},
		"already synced":        {"spec: {syncPolicy: {automated: {}}}", changes, "none", "next-upgrade", "it has synced to this revision already"},
		"a new commit": {"spec: {syncPolicy: {automated: {}}}", difference{changes: true, revisions: []string{"r2"}}, "sync", "next-upgrade",
			"another revision than at the last sync: r2"},
		"other sources": {"spec: {source: {path: b}, syncPolicy: {automated: {}}}", changes, "sync", "next-upgrade", "its sources say something else"},
		"only to prune": {"spec: {syncPolicy: {automated: {}}}", difference{prunes: true, revisions: []string{"r2"}}, "none", "next-upgrade", "automated prune is off"},
		"prunes":        {"spec: {syncPolicy: {automated: {prune: true}}}", difference{prunes: true, revisions: []string{"r2"}}, "sync", "next-upgrade", "another revision"},
		"prunes what somebody confirms": {"spec: {syncPolicy: {automated: {prune: true}}}", difference{prunes: true, confirms: "Secret shop/web", revisions: []string{"r2"}},
			"blocked", "never", "waits until somebody confirms that Secret shop/web is deleted"},
		"by hand, what somebody confirms": {"spec: {}", difference{prunes: true, confirms: "Secret shop/web", revisions: []string{"r2"}}, "none", "by-hand", "automated sync is off"},
		"a new commit, perhaps elsewhere": {"{metadata: {annotations: {argocd.argoproj.io/manifest-generate-paths: .}}, spec: {syncPolicy: {automated: {}}}}",
			difference{changes: true, revisions: []string{"r2"}}, "sync", "next-upgrade", "changes none of the paths of argocd.argoproj.io/manifest-generate-paths"},
		"would be empty": {"spec: {syncPolicy: {automated: {prune: true}}}", difference{prunes: true, isEmpty: true, revisions: []string{"r2"}}, "blocked", "never",
			"allowEmpty is off"},
		"would be empty after a sync by hand": {"spec: {syncPolicy: {automated: {prune: true, selfHeal: true}}}",
			difference{prunes: true, isEmpty: true, revisions: []string{"r1"}}, "blocked", "never", "allowEmpty is off"},
		"left alone by a false one": {"{metadata: {annotations: {argocd.argoproj.io/skip-reconcile: 'no'}}, spec: {}}", changes, "none", "by-hand", "automated sync is off"},
		"ends":                      {"{spec: {}, status: {operationState: {phase: Terminating}}}", changes, "sync", "now", "a sync is under way"},
		"being deleted": {"{metadata: {deletionTimestamp: now, finalizers: [resources-finalizer.argocd.argoproj.io]}, spec: {syncPolicy: {automated: {}}}}",
			changes, "uninstall", "never", "being deleted"},
		"being deleted, and somebody confirms": {"{metadata: {deletionTimestamp: now, finalizers: [resources-finalizer.argocd.argoproj.io]}}",
			difference{confirms: "Secret shop/web"}, "uninstall", "never", "its objects stay until somebody confirms that Secret shop/web is deleted"},
		"deleted in the background": {"{metadata: {deletionTimestamp: now, finalizers: [resources-finalizer.argocd.argoproj.io/background]}}", changes,
			"uninstall", "never", "being deleted"},
		"deleted alone": {"{metadata: {deletionTimestamp: now, finalizers: [other]}}", changes, "none", "never",
			"being deleted; it lacks the finalizer resources-finalizer.argocd.argoproj.io, so its objects stay"},
		"skipped": {"{metadata: {annotations: {argocd.argoproj.io/skip-reconcile: 'true'}}, spec: {syncPolicy: {automated: {}}}}", changes, "blocked", "never",
			"the annotation argocd.argoproj.io/skip-reconcile keeps it from looking at the Application"},
		"skipped, in sync": {"{metadata: {annotations: {argocd.argoproj.io/skip-reconcile: 'true'}}, spec: {}}", difference{}, "none", "never", "it is in sync; the annotation argocd.argoproj.io/skip-reconcile"},
		"skipped, and deleted": {"{metadata: {annotations: {argocd.argoproj.io/skip-reconcile: 'true'}, deletionTimestamp: now, finalizers: [resources-finalizer.argocd.argoproj.io]}}",
			changes, "blocked", "never", "or deletes it"},
		"not skipped": {"{metadata: {annotations: {argocd.argoproj.io/skip-reconcile: 'yes'}}, spec: {syncPolicy: {automated: {}}}}", changes, "none", "next-upgrade", ""},
		"under way":   {"{operation: {sync: {}}, spec: {}}", changes, "sync", "now", "a sync is under way"},
		"never synced": {"{spec: {syncPolicy: {automated: {}}}, status: {history: [], operationState: null}}", changes, "sync", "next-upgrade",
			"it has never been synced"},
		"failed": {"{spec: {syncPolicy: {automated: {selfHeal: true}}}, status: {operationState: {phase: Failed, syncResult: {source: {path: a}, revision: r1}}}}",
			changes, "blocked", "never", "ended with the phase Failed"},
		"a failed one of another commit": {"{spec: {syncPolicy: {automated: {}}}, status: {history: [{source: {path: a}, revision: r0}], " +
			"operationState: {phase: Failed, syncResult: {source: {path: a}, revision: r0}}}}", changes, "sync", "next-upgrade", "another revision"},
	} {
		a := &api.Application{}
		for _, text := range []string{"spec: {source: {path: a}}", synced, c.application} {
			if err := yaml.Unmarshal([]byte(text), a); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		got := (&Plan{app: a}).decide(c.d)
		if got.action != c.action || got.putsBack != c.putsBack || !strings.Contains(got.reason, c.reason) {
			t.Errorf("%s: %+v, want %s, %s, %q", name, got, c.action, c.putsBack, c.reason)
		}
	}
}

// TestDecideWithOthers has what to do if objects that are neither in sync nor to be pruned are there, or if Argo CD does not accept the
// Application.
func TestDecideWithOthers(t *testing.T) {
	for name, c := range map[string]struct {
		plan   *Plan
		d      difference
		action report.DeployerAction
		reason string
	}{
		"only to prune":  {&Plan{hasOthers: true}, difference{prunes: true}, "sync", "never been synced"},
		"would be empty": {&Plan{hasOthers: true}, difference{prunes: true, isEmpty: true}, "sync", "never been synced"},
		"not accepted":   {&Plan{rejected: "the destination has no server"}, difference{}, "blocked", "it does not compare the Application: the destination has no server"},
	} {
		c.plan.app = &api.Application{}
		text := "{spec: {source: {path: a}, syncPolicy: {automated: {prune: " + strconv.FormatBool(c.d.isEmpty) + "}}}}"
		if err := yaml.Unmarshal([]byte(text), c.plan.app); err != nil {
			t.Fatal(err)
		}
		if got := c.plan.decide(c.d); got.action != c.action || !strings.Contains(got.reason, c.reason) {
			t.Errorf("%s: %+v, want %s, %q", name, got, c.action, c.reason)
		}
	}
}

// TestDecideWithWindows has Applications that are out of sync while a sync window is closed.
func TestDecideWithWindows(t *testing.T) {
	denied := api.Closed{Reason: "a window denies it"}
	byHand := api.Closed{Reason: "a window denies it", ByHand: true}
	for name, c := range map[string]struct {
		policy   string
		closed   api.Closed
		action   report.DeployerAction
		putsBack report.PutsBack
		reason   string
	}{
		"automated":          {"automated: {selfHeal: true}", denied, "blocked", "never", "a window denies it; otherwise Argo CD puts back what drifted: selfHeal is on"},
		"automated, by hand": {"automated: {selfHeal: true}", byHand, "blocked", "by-hand", "selfHeal is on; a sync by hand is allowed"},
		"not automated":      {"", denied, "none", "never", "automated sync is off; a window denies it, also by hand"},
		"by hand":            {"", byHand, "none", "by-hand", "automated sync is off"},
	} {
		a := &api.Application{}
		text := "{spec: {source: {path: a}, syncPolicy: {" + c.policy + "}}, status: {operationState: {phase: Succeeded, syncResult: {source: {path: a}, revision: r1}}}}"
		if err := yaml.Unmarshal([]byte(text), a); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := (&Plan{app: a, closed: c.closed}).decide(difference{changes: true, revisions: []string{"r1"}})
		if got.action != c.action || got.putsBack != c.putsBack || !strings.HasSuffix(got.reason, c.reason) {
			t.Errorf("%s: %+v, want %s, %s, %q", name, got, c.action, c.putsBack, c.reason)
		}
	}
}

// objects is a Reader with some objects.
type objects map[object.Ref]map[string]any

// Read implements Reader.
func (o objects) Read(_ context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := map[object.Ref]cluster.Live{}
	for _, ref := range wanted {
		out[ref] = cluster.Live{Object: o[ref]}
	}
	return out
}

// TestWindows has the windows of a project, and whether they close at noon of a Saturday.
func TestWindows(t *testing.T) {
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	app := &api.Application{Metadata: api.Metadata{Name: "web", Namespace: "argocd"}}
	app.Spec.Destination = api.Destination{Server: api.InCluster, Namespace: "shop"}
	const byHand = ", by hand it may"
	for name, c := range map[string]struct{ windows, want string }{
		"none":                      {"[]", ""},
		"denied, but not by hand":   {"[{kind: deny, schedule: '0 11 * * *', duration: 2h, applications: ['*'], manualSync: true}]", "2h" + byHand},
		"one of two denies by hand": {"[{kind: deny, schedule: '0 11 * * *', duration: 2h, applications: ['*'], manualSync: true}, {kind: deny, schedule: '0 11 * * *', duration: 3h, applications: ['*']}]", "3h"},
		"another deny is over":      {"[{kind: deny, schedule: '0 11 * * *', duration: 2h, applications: ['*'], manualSync: true}, {kind: deny, schedule: '0 8 * * *', duration: 1h, applications: ['*']}]", "2h" + byHand},
		"allowed by hand":           {"[{kind: allow, schedule: '0 8 * * *', duration: 1h, applications: ['*'], manualSync: true}]", "allows it now" + byHand},
		"one of two allows by hand": {"[{kind: allow, schedule: '0 8 * * *', duration: 1h, applications: ['*'], manualSync: true}, {kind: allow, schedule: '0 9 * * *', duration: 1h, applications: ['*']}]", "allows it now"},
		"denied":                    {"[{kind: deny, schedule: '0 11 * * *', duration: 2h, applications: ['*']}]", "denies it now"},
		"over":                      {"[{kind: deny, schedule: '0 8 * * *', duration: 2h, applications: ['*']}]", ""},
		"of another application":    {"[{kind: deny, schedule: '0 11 * * *', duration: 2h, applications: [api]}]", ""},
		"a pattern":                 {"[{kind: deny, schedule: '0 11 * * *', duration: 2h, applications: ['w?b']}]", "denies it now"},
		"of the namespace":          {"[{kind: deny, schedule: '0 11 * * *', duration: 2h, namespaces: [shop]}]", "denies it now"},
		"of the cluster":            {"[{kind: deny, schedule: '0 11 * * *', duration: 2h, clusters: ['https://kubernetes*']}]", "denies it now"},
		"allowed":                   {"[{kind: allow, schedule: '0 11 * * *', duration: 2h, applications: ['*']}]", ""},
		"allowed at another time":   {"[{kind: allow, schedule: '0 8 * * *', duration: 1h, applications: ['*']}]", "no sync window"},
		"one of two allows":         {"[{kind: allow, schedule: '0 8 * * *', duration: 1h, applications: ['*']}, {kind: allow, schedule: '0 11 * * *', duration: 2h, applications: ['*']}]", ""},
		"denied and allowed":        {"[{kind: allow, schedule: '0 11 * * *', duration: 2h, applications: ['*']}, {kind: deny, schedule: '0 11 * * *', duration: 2h, applications: ['*']}]", "denies it now"},
		"both, and only one is":     {"[{kind: deny, andOperator: true, schedule: '0 11 * * *', duration: 2h, applications: [web], namespaces: [other]}]", ""},
		"both, and both are":        {"[{kind: deny, andOperator: true, schedule: '0 11 * * *', duration: 2h, applications: [web], namespaces: [shop]}]", "denies it now"},
		"in a zone":                 {"[{kind: deny, schedule: '55 6 * * *', duration: 30m, timeZone: America/New_York, applications: ['*']}]", "denies it now"},
		"in a zone that is none":    {"[{kind: deny, schedule: '55 11 * * *', duration: 30m, timeZone: Nowhere/Land, applications: ['*']}]", "denies it now"},
		"on another day":            {"[{kind: deny, schedule: '0 11 * * 1', duration: 2h, applications: ['*']}]", ""},
		"a schedule that is none":   {"[{kind: deny, schedule: often, duration: 2h, applications: ['*']}]", "error"},
		"a duration that is none":   {"[{kind: deny, schedule: '0 11 * * *', duration: long, applications: ['*']}]", "error"},
		"of no application, broken": {"[{kind: deny, schedule: often, duration: 2h}]", ""},
	} {
		var windows []any
		if err := yaml.Unmarshal([]byte(c.windows), &windows); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		from := objects{api.RefTo("AppProject", "argocd", "default"): {"spec": map[string]any{"syncWindows": windows}}}
		project, err := api.ReadProject(t.Context(), from, app, api.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		closed, err := project.Closed(app, noon)
		if c.want == "error" {
			if err == nil {
				t.Errorf("%s: no error", name)
			}
			continue
		}
		got := closed.Reason
		if closed.ByHand {
			got += byHand
		}
		if err != nil || (got == "") != (c.want == "") || !strings.Contains(got, c.want) || closed.ByHand != strings.HasSuffix(c.want, byHand) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}

// TestHeals has Applications that are out of sync, and whether the next sync writes all objects or only those that are out of sync.
func TestHeals(t *testing.T) {
	const status = ", status: {operationState: {phase: Succeeded, syncResult: {source: {path: a}, revision: r1}}}"
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"selfHeal":                    {"spec: {source: {path: a}, syncPolicy: {automated: {selfHeal: true}}}" + status, true},
		"the option":                  {"spec: {source: {path: a}, syncPolicy: {automated: {}, syncOptions: [ApplyOutOfSyncOnly=true]}}" + status, true},
		"a new commit":                {"spec: {source: {path: b}, syncPolicy: {automated: {selfHeal: true}}}" + status, false},
		"selfHeal is off":             {"spec: {source: {path: a}, syncPolicy: {automated: {}}}" + status, false},
		"automated sync is off":       {"spec: {source: {path: a}, syncPolicy: {automated: {enabled: false, selfHeal: true}}}" + status, false},
		"it has never been synced":    {"spec: {source: {path: a}, syncPolicy: {automated: {selfHeal: true}}}", false},
		"the last sync has failed":    {"spec: {source: {path: a}, syncPolicy: {automated: {selfHeal: true}}}" + strings.Replace(status, "Succeeded", "Failed", 1), false},
		"the last one is under way":   {"spec: {source: {path: a}, syncPolicy: {automated: {selfHeal: true}}}" + strings.Replace(status, "Succeeded", "Running", 1), false},
		"nobody syncs without a hand": {"spec: {source: {path: a}}" + status, false},
	} {
		p := &Plan{app: &api.Application{}, made: rendered{revisions: []string{"r1"}}}
		if err := yaml.Unmarshal([]byte("{"+c.text+"}"), p.app); err != nil {
			t.Fatal(err)
		}
		if got := p.options().Has("ApplyOutOfSyncOnly=true"); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestDiffers has an object that the sources no longer have: what it says, whether Argo CD is out of sync because of it, and whether a sync
// waits.
func TestDiffers(t *testing.T) {
	const key = "apiVersion: v1, kind: Secret, metadata: {name: old, namespace: shop"
	for name, c := range map[string]struct {
		annotations, options string
		action               report.Action
		prunes, confirms     bool
	}{
		"it goes":                  {"{}", "", report.ActionDelete, true, false},
		"it is extraneous":         {"{argocd.argoproj.io/compare-options: 'A=b, IgnoreExtraneous'}", "", report.ActionDelete, false, false},
		"it stays":                 {"{argocd.argoproj.io/sync-options: Prune=false}", "", report.ActionKeep, true, false},
		"somebody has to confirm":  {"{argocd.argoproj.io/sync-options: Prune=confirm}", "", report.ActionKeep, true, true},
		"so for all objects":       {"{}", "Prune=confirm", report.ActionKeep, true, true},
		"so for all but this one":  {"{argocd.argoproj.io/sync-options: Prune=true}", "Prune=confirm", report.ActionDelete, true, false},
		"the sources still say no": {"{argocd.argoproj.io/hook: Skip}", "", report.ActionKeep, true, false},
	} {
		p := planOf(t, "[], syncPolicy: {syncOptions: ["+c.options+"]}", "{apiVersion: v1, kind: Secret, metadata: {name: web, namespace: shop}}", "{}")
		live := contentOf(t, "{"+key+", annotations: "+c.annotations+"}}")
		p.cluster.known[object.RefOf(live)] = cluster.Live{Object: live}
		r := &report.Release{Objects: []report.Object{{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "old", Action: c.action}}}
		if got := p.differs(r, nil); got.prunes != c.prunes || (got.confirms != "") != c.confirms || got.changes {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestDestination has destinations, and whether they are the cluster that an Application is in.
func TestDestination(t *testing.T) {
	for destination, isHere := range map[string]bool{
		"{name: in-cluster}": true, "{server: 'https://kubernetes.default.svc'}": true, "{server: 'https://kubernetes.default.svc/'}": true,
		"{name: other}": false, "{server: 'https://192.0.2.1'}": false,
	} {
		app := api.Decoded(contentOf(t, head+"metadata: {name: web, namespace: argocd}, spec: {destination: "+destination+"}}"))
		if err := app.CheckDestination(); (err == nil) != isHere {
			t.Errorf("%s: %v", destination, err)
		}
	}
}

// TestRandom has whether Argo CD is out of sync because each rendering of the sources makes another value, and what is said if it is not.
func TestRandom(t *testing.T) {
	const application = "{spec: {source: {path: a}, syncPolicy: {automated: {selfHeal: true}}}, status: {sync: {status: %s, revision: %s, comparedTo: {source: {path: a}}}, " +
		"operationState: {phase: Succeeded, syncResult: {source: {path: a}, revision: r1}}}}"
	random := report.Object{Fields: []report.Finding{{Verdict: report.Overwrite, Class: report.ClassVolatile, Cause: report.CauseChange}}}
	for name, c := range map[string]struct {
		object           report.Object
		status, revision string
		action           report.DeployerAction
		reason           string
	}{
		"rendered already": {random, "Synced", "r1", "none", "it is in sync until it renders the sources again, since each rendering makes other values"},
		"rendered again":   {random, "OutOfSync", "r1", "correct", "selfHeal is on"},
		"another revision": {random, "Synced", "r0", "correct", "selfHeal is on"},
		"nothing random":   {report.Object{}, "Synced", "r0", "none", "it is in sync"},
	} {
		p := planOf(t, "[]", "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop}}", "{}")
		p.app = &api.Application{}
		if err := yaml.Unmarshal(fmt.Appendf(nil, application, c.status, c.revision), p.app); err != nil {
			t.Fatal(err)
		}
		c.object.APIVersion, c.object.Kind, c.object.Namespace, c.object.Name = "v1", "ConfigMap", "shop", "web"
		got := p.decide(p.differs(&report.Release{Objects: []report.Object{c.object}}, []string{"r1"}))
		if got.action != c.action || got.reason != c.reason {
			t.Errorf("%s: %+v, want %s, %q", name, got, c.action, c.reason)
		}
	}
}

// TestSees has a finding of an object of the sources, and whether Argo CD is out of sync because of it.
func TestSees(t *testing.T) {
	own, users := &report.IgnoreRule{Rule: "Application argocd/web ignoreDifferences[0]", Origin: report.ControllerArgo}, &report.IgnoreRule{Rule: "--ignore /data/a"}
	for name, c := range map[string]struct {
		object report.Object
		want   bool
	}{
		"a field":                   {report.Object{Fields: []report.Finding{{Verdict: report.Overwrite, Managed: true}}}, true},
		"a field that stays":        {report.Object{Fields: []report.Finding{{Verdict: report.Ignore}}}, false},
		"Argo CD ignores it":        {report.Object{Fields: []report.Finding{{Verdict: report.Overwrite, IgnoredBy: own}}}, false},
		"the user ignores it":       {report.Object{Fields: []report.Finding{{Verdict: report.Overwrite, IgnoredBy: users}}}, true},
		"an autoscaler has set it":  {report.Object{Fields: []report.Finding{{Verdict: report.Overwrite, Managed: true, Class: report.ClassAutoscaled}}}, true},
		"an object that is missing": {report.Object{Action: report.ActionCreate, Missing: true}, true},
		"the user ignores that":     {report.Object{Action: report.ActionCreate, Missing: true, IgnoredBy: users}, true},
	} {
		p := planOf(t, "[]", "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop}}", "{}")
		c.object.APIVersion, c.object.Kind, c.object.Namespace, c.object.Name = "v1", "ConfigMap", "shop", "web"
		if got := p.differs(&report.Release{Objects: []report.Object{c.object}}, nil); got.changes != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

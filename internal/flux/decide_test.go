package flux

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/fluxtest"
	"github.com/helmdrift/helmdrift/internal/unknown"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// base returns the situation of a release that Flux deployed and that nothing changed since.
func base(t *testing.T) situation {
	h := helmRelease(t, "  chart: {spec: {chart: web}}")
	h.Metadata.Generation = 2
	h.Status = api.Status{
		ObservedGeneration: 2, LastAttemptedGeneration: 2, StorageNamespace: "shop", LastAttemptedReleaseAction: "upgrade",
		LastAttemptedRevision: "1.0.0", LastAttemptedConfigDigest: "sha256:v",
		History: []api.Revision{
			{Name: "web", Namespace: "shop", Version: 2, Status: "superseded", ChartName: "web", ChartVersion: "0.9.0", ConfigDigest: "sha256:u"},
			{Name: "web", Namespace: "shop", Version: 3, Status: "deployed", ChartName: "web", ChartVersion: "1.0.0", ConfigDigest: "sha256:v"},
		},
	}
	return situation{release: h, number: 3, state: "deployed", stored: []int{2, 3}, chart: identity{"web", "1.0.0"}, values: "sha256:v"}
}

// TestDecide has a case for each way through the decision of helm-controller.
func TestDecide(t *testing.T) {
	no, yes := false, true
	failed := func(s *situation, failures int64) {
		s.state, s.release.Status.UpgradeFailures = "failed", failures
	}
	for name, test := range map[string]struct {
		change func(*situation)
		action report.DeployerAction
		reason string
	}{
		"in sync": {func(*situation) {}, report.DeployerNone, "chart version 1.0.0 and values are those of revision 3"},
		"values":  {func(s *situation) { s.values = "sha256:w" }, report.DeployerUpgrade, "the values changed"},
		"chart version": {func(s *situation) { s.chart.version = "1.1.0" }, report.DeployerUpgrade,
			"the chart version changes from 1.0.0 to 1.1.0"},
		"chart version that ends with a commit to come": {func(s *situation) { s.chart.version = "1.0.0+" + unknown.Text }, report.DeployerUpgrade,
			"the chart version changes from 1.0.0 to 1.0.0+(not known yet)"},
		"values not known": {func(s *situation) { s.isUnknown, s.values = true, "sha256:w" }, report.DeployerNone,
			"the chart version is that of revision 3, and whether the values are is not known"},
		"neither known": {func(s *situation) { s.isUnknown, s.chart = true, identity{} }, report.DeployerNone,
			"whether the chart and the values are those of revision 3 is not known"},
		"chart not known": {func(s *situation) { s.chart = identity{} }, report.DeployerNone, "the version of the chart is not known"},
		"only flags of the upgrade": {func(s *situation) {
			s.release.Metadata.Generation, s.release.Spec.Upgrade.Force = 3, true
		}, report.DeployerNone, ""},
		"post-renderers": {func(s *situation) {
			s.release.Metadata.Generation, s.release.Spec.PostRenderers = 3, []api.PostRenderer{{Kustomize: &api.Kustomize{}}}
		}, report.DeployerUpgrade, "spec.postRenderers changed"},
		"post-renderers that were seen": {func(s *situation) {
			s.release.Spec.PostRenderers = []api.PostRenderer{{Kustomize: &api.Kustomize{}}}
		}, report.DeployerNone, ""},
		"common metadata": {func(s *situation) {
			s.release.Metadata.Generation, s.release.Spec.CommonMetadata = 3, &api.CommonMetadata{Labels: map[string]string{"a": "b"}}
		}, report.DeployerUpgrade, "spec.commonMetadata changed"},

		"suspended": {func(s *situation) { s.release.Spec.Suspend = true }, report.DeployerBlocked,
			"suspended; otherwise Flux would do nothing"},
		"suspended with a change": {func(s *situation) {
			s.release.Spec.Suspend, s.values = true, "sha256:w"
		}, report.DeployerBlocked, "suspended; otherwise Flux upgrades it: the values changed"},
		"waits": {func(s *situation) { s.waits = "the dependency shop/db is not ready" }, report.DeployerBlocked,
			"the dependency shop/db is not ready"},
		"deleted": {func(s *situation) { s.release.Metadata.Deleted = "2026-11-27T00:00:00Z" }, report.DeployerUninstall, "being deleted"},
		"deleted while suspended": {func(s *situation) {
			s.release.Metadata.Deleted, s.release.Spec.Suspend = "2026-11-27T00:00:00Z", true
		}, report.DeployerNone, "the release stays"},
		"deleted, and never deployed": {func(s *situation) {
			s.release.Metadata.Deleted, s.release.Status.StorageNamespace = "2026-11-27T00:00:00Z", ""
		}, report.DeployerNone, "Flux has deployed nothing for it"},
		"dropped before its first upgrade": {func(s *situation) {
			s.release.Dropped, s.release.Status.History = "the tree drops it", nil
		}, report.DeployerNone, "the tree drops it, and Flux has deployed nothing for it"},

		"target namespace": {func(s *situation) {
			s.release.Spec.TargetNamespace, s.release.Spec.ReleaseName = "other", "web"
		}, report.DeployerReinstall, "the namespace of the release changes from shop to other"},
		"storage namespace": {func(s *situation) { s.release.Spec.StorageNamespace = "other" }, report.DeployerReinstall,
			"the namespace of the records changes from shop to other"},
		"release name": {func(s *situation) { s.release.Spec.ReleaseName = "api" }, report.DeployerReinstall,
			"the name of the release changes from web to api"},
		"chart name": {func(s *situation) { s.chart.name = "api" }, report.DeployerReinstall, "the name of the chart changes from web to api"},
		"chart name in place": {func(s *situation) {
			s.chart.name, s.release.Spec.Upgrade.ChartNameChangeStrategy = "api", "InPlaceUpdate"
		}, report.DeployerUpgrade, "the chart changes from web to api"},

		"not installed": {func(s *situation) {
			s.number, s.state, s.release.Status = 0, "", api.Status{}
		}, report.DeployerInstall, "it is not installed"},
		"uninstalled, with its history": {func(s *situation) { s.state = "uninstalled" }, report.DeployerBlocked,
			"without install.replace Helm refuses to install a release of that name"},
		"uninstalled, and replaced": {func(s *situation) {
			s.state, s.release.Spec.Install.Replace = "uninstalled", true
		}, report.DeployerInstall, "it was uninstalled"},
		"installation given up": {func(s *situation) {
			s.number, s.state, s.release.Status.InstallFailures, s.release.Status.LastAttemptedReleaseAction = 0, "", 1, "install"
		}, report.DeployerBlocked, "the installation failed 1 times"},
		"not managed yet":  {func(s *situation) { s.release.Status.History = nil }, report.DeployerUpgrade, "takes it over"},
		"upgraded by hand": {func(s *situation) { s.number = 4 }, report.DeployerUpgrade, "somebody else made revision 4"},
		"installed again by hand": {func(s *situation) { s.foreign = "somebody else made another one" }, report.DeployerUpgrade,
			"somebody else made another one"},
		"pending, by somebody else": {func(s *situation) {
			s.state, s.number, s.release.Status.UpgradeFailures = "pending-upgrade", 4, 1
		}, report.DeployerUpgrade, "somebody else made revision 4"},
		"pending, and not managed yet": {func(s *situation) {
			s.state, s.release.Status.History, s.release.Status.UpgradeFailures = "pending-upgrade", nil, 1
		}, report.DeployerUpgrade, "takes it over"},
		"pending":        {func(s *situation) { s.state = "pending-upgrade" }, report.DeployerUpgrade, "revision 3 is pending"},
		"unknown status": {func(s *situation) { s.state = "superseded" }, report.DeployerBlocked, "superseded"},

		"failed, and something changed": {func(s *situation) {
			failed(s, 1)
			s.values = "sha256:w"
		}, report.DeployerUpgrade, "something changed since"},
		"failed, no retries": {func(s *situation) { failed(s, 1) }, report.DeployerBlocked, "Flux has given up"},
		"failed, rolls back": {func(s *situation) {
			failed(s, 1)
			s.release.Spec.Upgrade.Remediation.Retries = 3
		}, report.DeployerRollback, "goes back to revision 2"},
		"failed, rolls back to a revision with a failed test": {func(s *situation) {
			failed(s, 1)
			s.release.Spec.Upgrade.Remediation = api.Remediation{Retries: 3, IgnoreTestFailures: &yes}
			s.release.Status.History[0].TestHooks = &map[string]*api.TestHook{"t": {Phase: "Failed"}}
		}, report.DeployerRollback, "goes back to revision 2"},
		"failed, and the revision to go back to is gone": {func(s *situation) {
			failed(s, 1)
			s.release.Spec.Upgrade.Remediation.Retries, s.stored = 3, []int{3}
		}, report.DeployerUpgrade, "revision 2, which the remediation would go back to, is not stored any more"},
		"failed, with retries by default": {func(s *situation) {
			failed(s, 1)
			s.retries = true
		}, report.DeployerUpgrade, "Flux tries again"},
		"failed, with retries by default and another strategy": {func(s *situation) {
			failed(s, 1)
			s.retries, s.release.Spec.Upgrade.Strategy = true, &api.Strategy{Name: "RemediateOnFailure"}
		}, report.DeployerBlocked, "Flux has given up"},
		"failed, uninstalls": {func(s *situation) {
			failed(s, 1)
			s.release.Spec.Upgrade.Remediation = api.Remediation{Retries: 3, Strategy: "uninstall"}
		}, report.DeployerUninstall, "the remediation is to uninstall"},
		"failed, last failure is not remediated": {func(s *situation) {
			failed(s, 4)
			s.release.Spec.Upgrade.Remediation = api.Remediation{Retries: 3, RemediateLastFailure: &no}
		}, report.DeployerBlocked, "after 4 attempts"},
		"failed, last failure is remediated": {func(s *situation) {
			failed(s, 4)
			s.release.Spec.Upgrade.Remediation = api.Remediation{Retries: 3, RemediateLastFailure: &yes}
		}, report.DeployerRollback, ""},
		"failed installation": {func(s *situation) {
			failed(s, 0)
			s.release.Status.LastAttemptedReleaseAction, s.release.Status.InstallFailures = "install", 1
			s.release.Spec.Install.Remediation.Retries = 2
		}, report.DeployerUninstall, ""},
		"failed, retries": {func(s *situation) {
			failed(s, 9)
			s.release.Spec.Upgrade.Strategy = &api.Strategy{Name: "RetryOnFailure"}
		}, report.DeployerUpgrade, "Flux tries again"},
		"failed, nothing to go back to": {func(s *situation) {
			failed(s, 1)
			s.release.Spec.Upgrade.Remediation.Retries = 3
			s.release.Status.History = s.release.Status.History[1:]
		}, report.DeployerBlocked, "no revision to roll back to"},
		"failed, forced": {func(s *situation) {
			failed(s, 1)
			s.release.Metadata.Annotations = map[string]string{"reconcile.fluxcd.io/forceAt": "1", "reconcile.fluxcd.io/requestedAt": "1"}
		}, report.DeployerUpgrade, "force an upgrade"},
		"failed, reset": {func(s *situation) {
			failed(s, 1)
			s.release.Metadata.Annotations = map[string]string{"reconcile.fluxcd.io/resetAt": "1", "reconcile.fluxcd.io/requestedAt": "1"}
		}, report.DeployerUpgrade, "something changed since"},
		"out of sync, given up": {func(s *situation) {
			s.release.Status.UpgradeFailures = 1
			s.release.Status.LastAttemptedConfigDigest, s.values = "sha256:w", "sha256:w"
		}, report.DeployerBlocked, "the upgrade failed 1 times"},

		"forced": {func(s *situation) {
			s.release.Metadata.Annotations = map[string]string{"reconcile.fluxcd.io/forceAt": "1", "reconcile.fluxcd.io/requestedAt": "1"}
		}, report.DeployerUpgrade, "force an upgrade"},
		"forced before": {func(s *situation) {
			s.release.Metadata.Annotations = map[string]string{"reconcile.fluxcd.io/forceAt": "1", "reconcile.fluxcd.io/requestedAt": "1"}
			s.release.Status.LastHandledReconcileAt = "1"
		}, report.DeployerNone, ""},
		"tests": {func(s *situation) { s.release.Spec.Test.Enable = true }, report.DeployerNone, "it only runs the tests"},
		"test failed": {func(s *situation) {
			s.release.Spec.Test.Enable = true
			s.release.Status.History[1].TestHooks = &map[string]*api.TestHook{"t": {Phase: "Failed"}}
		}, report.DeployerUpgrade, "a test of the chart failed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := base(t)
			test.change(&s)
			got := s.decide()
			if got.action != test.action || !strings.Contains(got.reason, test.reason) {
				t.Errorf("%s: %s, want %s: %s", got.action, got.reason, test.action, test.reason)
			}
			if named := strings.HasSuffix(got.reason, fmt.Sprintf("goes back to revision %d", got.revision)); named != (got.action == report.DeployerRollback) {
				t.Errorf("%s: %s, with revision %d", got.action, got.reason, got.revision)
			}
		})
	}
}

// TestForeign finds records that somebody else made under the number of the last one.
func TestForeign(t *testing.T) {
	const labels = "metadata: {labels: {helm.toolkit.fluxcd.io/name: web}}"
	values := &release.Values{Config: release.Texts{json.RawMessage(`{"a": 1}`)}}
	made := api.Revision{APIVersion: "v2", Version: 1, ChartName: "web", ChartVersion: "1.0.0", ConfigDigest: api.Digest(map[string]any{"a": 1.0})}
	for name, test := range map[string]struct {
		change func(*api.Revision, *release.Record)
		want   bool
	}{
		"the same":                    {func(*api.Revision, *release.Record) {}, false},
		"without objects":             {func(_ *api.Revision, r *release.Record) { r.Manifest = "\n" }, false},
		"another chart":               {func(_ *api.Revision, r *release.Record) { r.ChartVersion = "1.1.0" }, true},
		"other values":                {func(l *api.Revision, _ *release.Record) { l.ConfigDigest = "sha256:other" }, true},
		"without the labels of Flux":  {func(_ *api.Revision, r *release.Record) { r.Manifest = "metadata: {}" }, true},
		"another number":              {func(_ *api.Revision, r *release.Record) { r.Revision, r.Manifest = 2, "metadata: {}" }, false},
		"of an older helm-controller": {func(l *api.Revision, r *release.Record) { l.APIVersion, r.Manifest = "", "metadata: {}" }, false},
		"masked values": {func(_ *api.Revision, r *release.Record) {
			r.Values = &release.Values{Config: release.Texts{json.RawMessage(`{"a": "hd-masked-0123456789abcdef0123456789abcdef"}`)}}
		}, false},
		"values that could not be read": {func(_ *api.Revision, r *release.Record) { r.Values, r.Manifest = nil, "metadata: {}" }, false},
	} {
		last, record := made, release.Record{Revision: 1, ChartName: "web", ChartVersion: "1.0.0", Manifest: labels, Values: values}
		test.change(&last, &record)
		if got := foreign(&last, &record); got != "" != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestSettings reads the flags of helm-controller, and asks about a source in another namespace.
func TestSettings(t *testing.T) {
	for args, want := range map[string]struct {
		settings settings
		waits    bool
		warns    bool
	}{
		"[--no-cross-namespace-refs]":       {settings{isRead: true, sameNamespace: true}, true, false},
		"[--no-cross-namespace-refs=false]": {settings{isRead: true}, false, false},
		"['--feature-gates=UseHelm3Defaults=true,DisableChartDigestTracking=true, DefaultToRetryOnFailure=true']": {
			settings{isRead: true, helm3: true, noDigest: true, retries: true}, false, false},
		"[--feature-gates=UseHelm3Defaults=false]": {settings{isRead: true}, false, false},
		"none": {settings{}, false, true},
	} {
		ref, deployment := fluxtest.Decoded(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: helm-controller, namespace: flux-system}, "+
			"spec: {template: {spec: {containers: [{name: manager, args: %s}]}}}}", args)
		from := fluxtest.Served{Versions: []string{"apps/v1"}, Objects: map[object.Ref]map[string]any{}}
		if args != "none" {
			from.Objects[ref] = deployment
		}
		h := helmRelease(t, "  chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: charts, namespace: flux-system}}}")
		p, read := &Plan{reading: from, release: h}, settingsOnce()
		got := p.refusesSource(t.Context(), Question{settings: read})
		if found := read(t.Context(), from); found != want.settings || got != "" != want.waits || len(p.warnings) > 0 != want.warns {
			t.Errorf("%s: %+v, waits for %q, warnings %v", args, found, got, p.warnings)
		}
		h.Spec.Chart.Spec.SourceRef.Namespace = "shop"
		if p = (&Plan{reading: from, release: h}); p.refusesSource(t.Context(), Question{settings: read}) != "" || len(p.warnings) > 0 {
			t.Errorf("%s: a source in the same namespace is refused, or %v", args, p.warnings)
		}
	}
}

// TestCorrected checks that only driftDetection with mode enabled puts drift back, and only if nothing else is to be done.
func TestCorrected(t *testing.T) {
	none := decision{action: report.DeployerNone}
	for _, test := range []struct {
		from    decision
		mode    string
		drifted bool
		want    report.DeployerAction
	}{
		{none, "enabled", true, report.DeployerCorrect},
		{none, "enabled", false, report.DeployerNone},
		{none, "warn", true, report.DeployerNone},
		{decision{action: report.DeployerUpgrade}, "enabled", true, report.DeployerUpgrade},
	} {
		if got := test.from.corrected(test.mode, test.drifted).action; got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// TestCorrectable asks for each kind of drift whether Flux sees it.
func TestCorrectable(t *testing.T) {
	p := &Plan{release: helmRelease(t, "  {}")}
	field := func(change func(*report.Finding)) report.Object {
		f := report.Finding{Pointer: "/spec/replicas", Managed: true, Cause: report.CauseDrift, Verdict: report.Overwrite}
		change(&f)
		return report.Object{Fields: []report.Finding{f}}
	}
	for name, test := range map[string]struct {
		object report.Object
		want   bool
	}{
		"edited":             {field(func(*report.Finding) {}), true},
		"added":              {field(func(f *report.Finding) { f.Managed = false }), false},
		"by the chart":       {field(func(f *report.Finding) { f.Cause = report.CauseChange }), false},
		"another spelling":   {field(func(f *report.Finding) { f.Equivalent = true }), false},
		"autoscaled":         {field(func(f *report.Finding) { f.Class = report.ClassAutoscaled }), true},
		"a rule of the user": {field(func(f *report.Finding) { f.IgnoredBy = &report.IgnoreRule{Rule: "mine"} }), true},
		"a rule of the HelmRelease": {field(func(f *report.Finding) {
			f.IgnoredBy = &report.IgnoreRule{Rule: "HelmRelease shop/web ignore[0]", Origin: report.ControllerFlux}
		}), false},
		"a label of the object": {field(func(f *report.Finding) {
			f.IgnoredBy = &report.IgnoreRule{Rule: "label helm.toolkit.fluxcd.io/driftDetection", Origin: report.ControllerFlux}
		}), false},
		"a label":          {field(func(f *report.Finding) { f.Pointer = "/metadata/labels/a" }), true},
		"finalizers":       {field(func(f *report.Finding) { f.Pointer = "/metadata/finalizers" }), false},
		"missing":          {report.Object{Missing: true}, true},
		"being deleted":    {report.Object{Terminating: true, Missing: true}, false},
		"missing, ignored": {report.Object{Missing: true, IgnoredBy: &report.IgnoreRule{Rule: "HelmRelease shop/web ignore[1]", Origin: report.ControllerFlux}}, false},
	} {
		if got := p.hasCorrectable(&report.Release{Objects: []report.Object{test.object}}); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if p.hasCorrectable(&report.Release{Terminating: true, Objects: []report.Object{field(func(*report.Finding) {})}}) {
		t.Error("a release that is being deleted is corrected")
	}
}

// TestReleaseName checks the names of releases, with the example of a long one in fluxcd/helm-controller v1.6.0 internal/release/name.go.
func TestReleaseName(t *testing.T) {
	long := strings.Repeat("a", 54)
	for spec, want := range map[string]string{
		"{}":                      "web",
		"{targetNamespace: prod}": "prod-web",
		"{targetNamespace: prod, releaseName: api}": "api",
		"{releaseName: " + long + "}":               strings.Repeat("a", 40) + "-" + "",
	} {
		got := helmRelease(t, "  "+spec).ReleaseName()
		if len(got) > 53 || !strings.HasPrefix(got, want) || want[len(want)-1] != '-' && got != want {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
	}
}

// TestDependency asks whether a dependency keeps Flux from acting.
func TestDependency(t *testing.T) {
	const ready, failed = "{type: Ready, status: 'True'}", "{type: Ready, status: 'False'}"
	for name, tt := range map[string]struct {
		generation, observed int
		conditions, spec     string
		want                 string
		warns                bool
	}{
		"ready":                          {2, 2, ready, "", "", false},
		"not ready":                      {2, 2, failed, "", "the dependency is not ready", false},
		"ready, and it changes":          {3, 2, ready, "", "", true},
		"suspended, and it changes":      {3, 2, ready, "suspend: true", "", true},
		"suspended":                      {2, 2, ready, "suspend: true", "", false},
		"not ready, and it changes":      {3, 2, failed, "", "the dependency is not ready", false},
		"new":                            {1, 0, "", "", "", true},
		"new and suspended":              {1, 0, "", "suspend: true", "the dependency is not ready", false},
		"observed, and nothing is known": {1, 1, "", "", "the dependency is not ready", false},
	} {
		t.Run(name, func(t *testing.T) {
			ref, db := fluxtest.Decoded(t, "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: db, namespace: shop, "+
				"generation: %d}, spec: {%s}, status: {observedGeneration: %d, conditions: [%s]}}", tt.generation, tt.spec, tt.observed, tt.conditions)
			p := &Plan{reading: fluxtest.Served{Versions: []string{"helm.toolkit.fluxcd.io/v2"}, Objects: map[object.Ref]map[string]any{ref: db}}}
			got, err := p.waitsFor(t.Context(), "shop", "db", "the dependency")
			if got != tt.want || len(p.warnings) > 0 != tt.warns || err != nil {
				t.Errorf("%q with the warnings %v and the error %v, want %q", got, p.warnings, err, tt.want)
			}
		})
	}
}

// TestDependencyUnread checks that Flux waits for a dependency that does not exist, and that nobody knows whether it waits for one that
// cannot be read.
func TestDependencyUnread(t *testing.T) {
	p := &Plan{reading: fluxtest.Served{Versions: []string{"helm.toolkit.fluxcd.io/v2"}}}
	if got, err := p.waitsFor(t.Context(), "shop", "db", "the dependency"); got != "the dependency does not exist" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	_, web := fluxtest.Decoded(t, "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: web, namespace: shop}, "+
		"spec: {dependsOn: [{name: db}]}}")
	p = &Plan{release: api.HelmReleaseOf(web), reading: fluxtest.Served{}, offer: &offer{}}
	why, err := p.waits(t.Context(), Question{})
	if why != "" || err != nil || len(p.problems) != 1 || !strings.Contains(p.problems[0].Message, "whether Flux waits for it is not known") {
		t.Errorf("%q, %v, %v", why, err, p.problems)
	}
}

// TestProve compares the version of the chart with that of the last attempt. What ends with a commit to come cannot be compared.
func TestProve(t *testing.T) {
	for version, warns := range map[string]bool{"1.0.0": false, "1.1.0": true, "1.0.0+" + unknown.Text: false} {
		s := base(t)
		s.chart.version, s.values = version, s.release.Status.LastAttemptedConfigDigest
		p := &Plan{release: s.release, offer: &offer{}}
		if p.prove(s, false); len(p.warnings) > 0 != warns {
			t.Errorf("%s: %v", version, p.warnings)
		}
	}
}

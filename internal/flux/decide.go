package flux

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/unknown"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// situation is what the decision of helm-controller depends on.
type situation struct {
	release *api.HelmRelease
	// number and state are those of the last record, or 0 and "" if there is none. Stored are the numbers of all records.
	number int
	state  string
	stored []int
	// foreign says why the last record is not the one that the controller made, although it has the same number, or is "".
	foreign string
	// chart is the chart that the source offers, and values is the digest of the composed values.
	chart  identity
	values string
	// isUnknown is set if the values have something that is not known, so that the digest says nothing.
	isUnknown bool
	// waits says what the controller waits for, or "" if that is nothing: a dependency or the source.
	waits string
	// retries is set if the controller tries failed actions again unless the HelmRelease has another strategy.
	retries bool
}

// identity is the name and the version of a chart as helm-controller sees them. It is empty if the chart is not known.
type identity struct{ name, version string }

// decision is what helm-controller does next, and why. Otherwise is what it would do if nothing kept it from acting.
type decision struct {
	action, otherwise report.DeployerAction
	reason            string
	// revision is what a rollback goes back to.
	revision int
}

// decide returns what helm-controller does at its next reconciliation (fluxcd/helm-controller v1.6.0
// internal/controller/helmrelease_controller.go Reconcile, reconcileRelease). Drift is not looked at yet; see corrected.
func (s situation) decide() decision {
	h := s.release
	goes := h.Dropped
	if h.Metadata.Deleted != "" {
		goes = "the HelmRelease is being deleted"
	}
	switch {
	case goes != "" && h.Spec.Suspend:
		return decision{action: report.DeployerNone, reason: goes + " while it is suspended, so the release stays"}
	case goes != "" && (h.Status.StorageNamespace == "" || h.Last() == nil):
		// fluxcd/helm-controller v1.6.0 internal/controller/helmrelease_controller.go reconcileReleaseDeletion
		return decision{action: report.DeployerNone, reason: goes + ", and Flux has deployed nothing for it, so it uninstalls nothing"}
	case goes != "":
		return decision{action: report.DeployerUninstall, reason: goes}
	case h.Spec.Suspend:
		return s.blocked("suspended")
	case s.waits != "":
		return s.blocked(s.waits)
	}
	return s.unblocked()
}

// isGoing reports whether the HelmRelease is being deleted, or will be. Then its chart does not matter.
func isGoing(h *api.HelmRelease) bool { return h.Dropped != "" || h.Metadata.Deleted != "" }

// blocked returns the decision of a controller that does not act, with what it would do.
func (s situation) blocked(why string) decision {
	then := s.unblocked()
	out := decision{action: report.DeployerBlocked, otherwise: then.action, reason: why}
	switch then.action {
	case report.DeployerNone:
		out.reason += "; otherwise Flux would do nothing: " + then.reason
	case report.DeployerBlocked:
		out.reason += "; and " + then.reason
		out.otherwise = ""
	default:
		out.reason += "; otherwise Flux " + does(then.action) + ": " + then.reason
	}
	return out
}

// does says what an action does to the release.
func does(action report.DeployerAction) string {
	switch action {
	case report.DeployerReinstall:
		return "uninstalls it and installs it anew"
	case report.DeployerRollback:
		return "rolls it back"
	}
	return string(action) + "s it"
}

// unblocked returns the decision of a controller that neither waits nor is suspended.
func (s situation) unblocked() decision {
	if changed := s.changedTarget(); changed != "" {
		return decision{action: report.DeployerReinstall, reason: changed}
	}
	h, last := s.release, s.release.Last()
	switch {
	case s.number == 0:
		return s.installs("it is not installed")
	case isPending(s.state):
		// The controller unlocks such a revision, which makes it failed, and decides again (fluxcd/helm-controller v1.6.0
		// internal/reconcile/unlock.go).
		s.state = "failed"
		out := s.unblocked()
		out.reason = fmt.Sprintf("revision %d is pending, so Flux marks it as failed first; %s", s.number, out.reason)
		return out
	case s.state == "uninstalled" && !h.Spec.Install.Replace:
		// helm v4.3.1 pkg/action/install.go availableName
		return decision{action: report.DeployerBlocked, reason: fmt.Sprintf("it was uninstalled and revision %d is kept, and without "+
			"install.replace Helm refuses to install a release of that name", s.number)}
	case s.state == "uninstalled":
		return s.installs("it was uninstalled")
	case last == nil:
		return decision{action: report.DeployerUpgrade, reason: "the HelmRelease has not deployed the release yet, so Flux takes it over"}
	case last.Version != s.number:
		return decision{action: report.DeployerUpgrade,
			reason: fmt.Sprintf("Flux made revision %d, and somebody else made revision %d", last.Version, s.number)}
	case s.foreign != "":
		return decision{action: report.DeployerUpgrade, reason: s.foreign}
	case s.state == "failed":
		return s.failed()
	case s.state != "deployed":
		return decision{action: report.DeployerBlocked, reason: fmt.Sprintf("the last revision is %s, which Flux cannot handle", s.state)}
	}
	if why := s.outOfSync(last); why != "" {
		if failures := s.counted(h.Status.UpgradeFailures); isExhausted(h.Spec.Upgrade.Remediation, failures) && !forces(h) {
			return decision{action: report.DeployerBlocked,
				reason: fmt.Sprintf("the upgrade failed %d times, and Flux has given up; %s", failures, why)}
		}
		return decision{action: report.DeployerUpgrade, reason: why}
	}
	return s.inSync(last)
}

// inSync returns the decision for a deployed release whose chart and values are those of the HelmRelease.
func (s situation) inSync(last *api.Revision) decision {
	h := s.release
	same := fmt.Sprintf("chart version %s and values are those of revision %d", last.ChartVersion, last.Version)
	switch {
	case s.isUnknown && s.chart.name == "":
		same = fmt.Sprintf("whether the chart and the values are those of revision %d is not known", last.Version)
	case s.isUnknown:
		same = fmt.Sprintf("the chart version is that of revision %d, and whether the values are is not known", last.Version)
	case s.chart.name == "":
		same = fmt.Sprintf("the values are those of revision %d, and the version of the chart is not known", last.Version)
	}
	if h.Spec.Test.Enable {
		active, isActive := activeRemediation(h)
		switch {
		case last.TestHooks == nil:
			return decision{action: report.DeployerNone, reason: same + "; it only runs the tests of the chart"}
		case isActive && !ignoresTests(h, active) && last.HasFailedTest():
			out := s.failed()
			out.reason = "a test of the chart failed; " + out.reason
			return out
		}
	}
	if forces(h) {
		return decision{action: report.DeployerUpgrade, reason: "an annotation asks Flux to force an upgrade"}
	}
	return decision{action: report.DeployerNone, reason: same}
}

// isPending reports whether a status is that of an action that has not ended (helm v4.3.1 pkg/release/common/status.go IsPending).
func isPending(status string) bool {
	return status == "pending-install" || status == "pending-upgrade" || status == "pending-rollback"
}

// changedTarget says what makes Flux uninstall the release and install it anew, or returns "" (fluxcd/helm-controller v1.6.0
// internal/action/verify.go ReleaseTargetChanged).
func (s situation) changedTarget() string {
	h, last := s.release, s.release.Last()
	if last == nil || h.Status.StorageNamespace == "" {
		return ""
	}
	change := func(what, from, to string) string { return fmt.Sprintf("%s changes from %s to %s", what, from, to) }
	switch {
	case h.StorageNamespace() != h.Status.StorageNamespace:
		return change("the namespace of the records", h.Status.StorageNamespace, h.StorageNamespace())
	case h.ReleaseNamespace() != last.Namespace:
		return change("the namespace of the release", last.Namespace, h.ReleaseNamespace())
	case h.ReleaseName() != last.Name:
		return change("the name of the release", last.Name, h.ReleaseName())
	case s.chart.name != "" && s.chart.name != last.ChartName && h.Spec.Upgrade.ChartNameChangeStrategy != "InPlaceUpdate":
		return change("the name of the chart", last.ChartName, s.chart.name)
	}
	return ""
}

// foreign says why the last record is not the one that helm-controller made, although it has the same number, or returns "". Somebody who
// uninstalls a release and installs it again makes such a record. Helm-controller has a digest of the whole record, but not for records of
// its older versions (fluxcd/helm-controller v1.6.0 internal/action/verify.go VerifyReleaseObject). Here, the chart, the values, and the
// labels that only helm-controller gives all objects show it. The digest of values that a snapshot masks says nothing.
func foreign(last *api.Revision, record *release.Record) string {
	const current = "v2" // api/v2 CurrentSnapshotAPIVersion
	if last == nil || last.APIVersion != current || record == nil || record.Revision != last.Version || record.Values == nil {
		return ""
	}
	config, _, err := record.Values.Decode()
	isOther := record.ChartName != last.ChartName || record.ChartVersion != last.ChartVersion ||
		err == nil && !api.HasUnknown(config) && api.Digest(config) != last.ConfigDigest
	if !isOther && (strings.TrimSpace(record.Manifest) == "" || strings.Contains(record.Manifest, api.HelmGroup+"/name")) {
		return ""
	}
	return fmt.Sprintf("Flux made revision %d, and somebody else made another one of that number since", last.Version)
}

// outOfSync says why a deployed release is not what the HelmRelease asks for, or returns "" (fluxcd/helm-controller v1.6.0
// internal/action/verify.go VerifyRelease, internal/reconcile/state.go DetermineReleaseState).
func (s situation) outOfSync(last *api.Revision) string {
	h := s.release
	switch {
	case s.chart.name != "" && s.chart.name != last.ChartName:
		return fmt.Sprintf("the chart changes from %s to %s", last.ChartName, s.chart.name)
	case s.chart.name != "" && s.chart.version != last.ChartVersion:
		return fmt.Sprintf("the chart version changes from %s to %s", last.ChartVersion, shownVersion(s.chart.version))
	case !s.isUnknown && s.values != last.ConfigDigest:
		return "the values changed"
	case h.Metadata.Generation == h.Status.ObservedGeneration:
		return ""
	case digestOf(h.Spec.PostRenderers) != h.Status.ObservedPostRenderersDigest:
		return "spec.postRenderers changed"
	case digestOf(h.Spec.CommonMetadata) != h.Status.ObservedCommonMetadataDigest:
		return "spec.commonMetadata changed"
	}
	return ""
}

// shownVersion returns the version of a chart for people. The end of it may not be known.
func shownVersion(version string) string {
	return strings.Replace(version, unknown.Text, "(not known yet)", 1)
}

// installs returns the decision for a release that is not there (fluxcd/helm-controller v1.6.0 internal/reconcile/atomic_release.go
// actionForState).
func (s situation) installs(why string) decision {
	failures := s.counted(s.release.Status.InstallFailures)
	if isExhausted(s.release.Spec.Install.Remediation, failures) && !forces(s.release) {
		return decision{action: report.DeployerBlocked, reason: fmt.Sprintf("the installation failed %d times, and Flux has given up", failures)}
	}
	return decision{action: report.DeployerInstall, reason: why}
}

// failed returns the decision for a failed release (fluxcd/helm-controller v1.6.0 internal/reconcile/atomic_release.go actionForState).
func (s situation) failed() decision {
	h := s.release
	upgrades := func(why string) decision { return decision{action: report.DeployerUpgrade, reason: why} }
	rule, isActive := activeRemediation(h)
	failures, strategy := s.counted(h.Status.UpgradeFailures), rule.Strategy
	if h.Status.LastAttemptedReleaseAction == "install" {
		failures, strategy = s.counted(h.Status.InstallFailures), "uninstall"
	}
	switch {
	case retries(h, s.retries):
		return upgrades("the last revision failed, and Flux tries again")
	case !isActive:
		return upgrades("the last revision failed")
	case failures <= 0:
		return upgrades("the last revision failed, and something changed since")
	case forces(h):
		return upgrades("the last revision failed, and an annotation asks Flux to force an upgrade")
	}
	byDefault := h.Status.LastAttemptedReleaseAction == "upgrade" && rule.Retries > 0
	if isExhausted(rule, failures) && !*cmp.Or(rule.RemediateLastFailure, &byDefault) {
		return decision{action: report.DeployerBlocked,
			reason: fmt.Sprintf("the last revision failed after %d attempts, and Flux has given up", failures)}
	}
	if strategy == "uninstall" {
		return decision{action: report.DeployerUninstall, reason: "the last revision failed, and the remediation is to uninstall the release"}
	}
	to := h.Previous(ignoresTests(h, rule))
	if to == nil {
		return decision{action: report.DeployerBlocked, reason: "the last revision failed, and there is no revision to roll back to"}
	}
	if !slices.Contains(s.stored, to.Version) {
		return upgrades(fmt.Sprintf("the last revision failed, and revision %d, which the remediation would go back to, is not stored any more",
			to.Version))
	}
	return decision{action: report.DeployerRollback, revision: to.Version,
		reason: fmt.Sprintf("the last revision failed, and the remediation goes back to revision %d", to.Version)}
}

// isExhausted reports whether there have been more failures than the retries allow; negative retries are unlimited (api/v2
// RetriesExhausted).
func isExhausted(r api.Remediation, failures int64) bool {
	return r.Retries >= 0 && failures > int64(r.Retries)
}

// ignoresTests reports whether a failed test of the chart is no failure for a remediation (api/v2 MustIgnoreTestFailures).
func ignoresTests(h *api.HelmRelease, r api.Remediation) bool {
	return *cmp.Or(r.IgnoreTestFailures, &h.Spec.Test.IgnoreFailures)
}

// resets reports whether the controller forgets its failures, because something changed since (fluxcd/helm-controller v1.6.0
// internal/action/reset.go MustResetFailures).
func (s situation) resets() bool {
	h := s.release
	return h.Status.LastAttemptedGeneration != h.Metadata.Generation ||
		s.chart.name != "" && h.Status.LastAttemptedRevision != s.chart.version ||
		!s.isUnknown && h.Status.LastAttemptedConfigDigest != "" && h.Status.LastAttemptedConfigDigest != s.values ||
		requests(h, "reconcile.fluxcd.io/resetAt", h.Status.LastHandledResetAt)
}

// counted returns how many of the failures in the status count at the next reconciliation.
func (s situation) counted(failures int64) int64 {
	if s.resets() {
		return 0
	}
	return failures
}

// activeRemediation returns the rule for failures of the last action. It returns false if no action was attempted (api/v2
// GetActiveRemediation).
func activeRemediation(h *api.HelmRelease) (rule api.Remediation, found bool) {
	switch h.Status.LastAttemptedReleaseAction {
	case "install":
		return h.Spec.Install.Remediation, true
	case "upgrade":
		return h.Spec.Upgrade.Remediation, true
	}
	return api.Remediation{}, false
}

// retries reports whether the strategy of the last action is to try again without a remediation (api/v2 GetActiveRetry). That is so by
// default if byDefault is set.
func retries(h *api.HelmRelease, byDefault bool) bool {
	chosen := h.Spec.Upgrade.Strategy
	switch h.Status.LastAttemptedReleaseAction {
	case "install":
		chosen = h.Spec.Install.Strategy
	case "upgrade":
	default:
		return false
	}
	if chosen == nil {
		return byDefault
	}
	return chosen.Name == "RetryOnFailure"
}

// forces reports whether an annotation asks for an upgrade that has not been made.
func forces(h *api.HelmRelease) bool {
	return requests(h, "reconcile.fluxcd.io/forceAt", h.Status.LastHandledForceAt)
}

// requests reports whether an annotation asks for something that has not been handled. It counts only if requestedAt has the same value
// (fluxcd/pkg apis/meta v1.31.0 annotations.go HandleAnnotationRequest).
func requests(h *api.HelmRelease, annotation, handled string) bool {
	at, asked := h.Metadata.Annotations[annotation]
	requested := h.Metadata.Annotations["reconcile.fluxcd.io/requestedAt"]
	return asked && at == requested && h.Status.LastHandledReconcileAt != requested && handled != at
}

// digestOf returns the digest that helm-controller stores of spec.postRenderers or spec.commonMetadata, or "" if the field is not set
// (fluxcd/helm-controller v1.6.0 internal/postrender/build.go Digest, CommonMetadataDigest). The line break is that of an Encoder.
func digestOf(field any) string {
	text, _ := json.Marshal(field) // it has plain fields
	if string(text) == "null" {
		return ""
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(append(text, '\n')))
}

// corrected returns the decision for a release in which Flux may find drift: with driftDetection enabled it puts back what drifted if it
// does nothing else (fluxcd/helm-controller v1.6.0 internal/reconcile/atomic_release.go actionForState).
func (d decision) corrected(mode string, drifted bool) decision {
	if d.action != report.DeployerNone || mode != "enabled" || !drifted {
		return d
	}
	d.action = report.DeployerCorrect
	d.reason = "driftDetection is enabled, and the release drifted; " + d.reason
	return d
}

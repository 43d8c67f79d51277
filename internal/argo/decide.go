package argo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file decides what the controller does next (argo-cd v3.6.1 controller/appcontroller.go autoSync).

// decision is what the controller does, and why.
type decision struct {
	action    report.DeployerAction
	otherwise report.DeployerAction
	reason    string
	putsBack  report.PutsBack
}

// blocked is the decision of a controller that something keeps from what it would do otherwise.
func blocked(otherwise report.DeployerAction, reason string) decision {
	return decision{action: report.DeployerBlocked, otherwise: otherwise, reason: reason, putsBack: report.PutsBackNever}
}

// difference is how the Application differs from its sources.
type difference struct {
	// changes is set if a sync writes something that Argo CD does not ignore, and prunes if objects are there that the sources dropped.
	changes, prunes bool
	// isEmpty is set if the sources make no object, and isRandom if each rendering of them makes other values.
	isEmpty, isRandom bool
	// confirms is an object that a sync deletes only after somebody has confirmed it, or "". The sync waits for that.
	confirms string
	// revisions are those of the sources, or nil if they are not known.
	revisions []string
}

// skipReason says what the annotation does.
const skipReason = "the annotation " + api.SkipAnnotation +
	" keeps it from looking at the Application, also if somebody syncs or deletes it"

// decide returns what the controller does.
func (p *Plan) decide(d difference) decision {
	a := p.app
	auto := a.Spec.SyncPolicy.Automated
	isOut, inSync := d.changes || d.prunes, "it is in sync"
	if d.isRandom {
		inSync += " until it renders the sources again, since each rendering makes other values"
	}
	switch {
	case a.Goes() != "" && !a.Cascades():
		reason := a.Goes() + "; it lacks the finalizer " + api.Finalizer + ", so its objects stay"
		return decision{action: report.DeployerNone, reason: reason, putsBack: report.PutsBackNever}
	case a.IsSkipped() && a.Goes() == "" && !isOut:
		return decision{action: report.DeployerNone, reason: inSync + "; " + skipReason, putsBack: report.PutsBackNever}
	case a.IsSkipped():
		if a.Goes() != "" {
			return blocked(report.DeployerUninstall, skipReason)
		}
		return blocked(report.DeployerSync, skipReason)
	case a.Goes() != "":
		reason := a.Goes()
		if d.confirms != "" {
			reason += "; its objects stay until somebody confirms that " + d.confirms + " is deleted"
		}
		return decision{action: report.DeployerUninstall, reason: reason, putsBack: report.PutsBackNever}
	case p.rejected != "":
		return blocked(report.DeployerSync, "it does not compare the Application: "+p.rejected)
	case isOut && p.forbidden != "":
		return blocked(report.DeployerSync, p.forbidden)
	case a.UnderWay() != nil:
		return decision{action: report.DeployerSync, reason: "a sync is under way", putsBack: report.PutsBackNow}
	case p.broken != "":
		return blocked(report.DeployerSync, "it cannot compare the Application: "+p.broken)
	case !a.IsAutomated():
		out := decision{action: report.DeployerNone, reason: inSync + ", and automated sync is off", putsBack: report.PutsBackHand}
		if isOut {
			out.reason = "it is out of sync, and automated sync is off"
		}
		if p.closed.Reason != "" && !p.closed.ByHand {
			out.reason, out.putsBack = out.reason+"; "+p.closed.Reason+", also by hand", report.PutsBackNever
		}
		return out
	}
	out := decision{putsBack: report.PutsBackUpgrade}
	if auto.SelfHeal {
		out.putsBack = report.PutsBackNow
	}
	attempted, phase := p.attempted(d.revisions)
	switch {
	case !isOut:
		out.action, out.reason = report.DeployerNone, inSync
	case !d.changes && !auto.Prune && !p.hasOthers:
		out.action, out.reason = report.DeployerNone, "only objects differ that the sources no longer have, and automated prune is off"
	case attempted && phase != "Succeeded":
		return blocked(report.DeployerSync,
			fmt.Sprintf("the last sync to this revision ended with the phase %s, and Argo CD does not try it again", phase))
	case attempted && !auto.SelfHeal:
		out.action, out.reason = report.DeployerNone, "it has synced to this revision already, and selfHeal is off"
	case auto.Prune && !auto.AllowEmpty && d.isEmpty && !p.hasOthers:
		return blocked(report.DeployerSync, "the sync would delete all objects, and allowEmpty is off")
	case attempted:
		out.action, out.reason = report.DeployerCorrect, "selfHeal is on"
	default:
		out.action, out.reason = report.DeployerSync, p.changed(d.revisions)
	}
	switch {
	case out.action == report.DeployerNone:
	case d.confirms != "":
		return blocked(out.action, "the sync waits until somebody confirms that "+d.confirms+" is deleted")
	case p.closed.Reason != "":
		otherwise := (&report.Deployer{Controller: report.ControllerArgo, Action: out.action, Reason: out.reason}).Says()
		out = blocked(out.action, p.closed.Reason+"; otherwise "+otherwise)
		if p.closed.ByHand {
			out.reason, out.putsBack = out.reason+"; a sync by hand is allowed", report.PutsBackHand
		}
	}
	return out
}

// pathsAnnotation has the paths of a repository that an Application is made of (argo-cd v3.6.1 controller/appcontroller.go
// alreadyAttemptedSync, controller/state.go evaluateRevisionChanges).
const pathsAnnotation = "argocd.argoproj.io/manifest-generate-paths"

// changed says what is new since the last sync.
func (p *Plan) changed(revisions []string) string {
	sources, was, found := p.app.Synced()
	switch {
	case !found:
		return "it has never been synced"
	case !api.HaveSameSources(sources, p.app.Sources()):
		return "its sources say something else than at the last sync"
	case p.isFromTree():
		return "the merge of the working tree is a new revision"
	case !slices.Equal(was, revisions):
		reason := "the sources have another revision than at the last sync: " + strings.Join(shortRevisions(revisions), ", ")
		if p.app.Metadata.Annotations[pathsAnnotation] != "" {
			reason += "; if that changes none of the paths of " + pathsAnnotation + ", Argo CD does not sync because of it"
		}
		return reason
	}
	return "it is out of sync"
}

// shortRevisions returns revisions as Argo CD shows them: commits with seven letters.
func shortRevisions(all []string) []string {
	var out []string
	for _, one := range all {
		if len(one) == len("da39a3ee5e6b4b0d3255bfef95601890afd80709") {
			one = one[:7]
		}
		out = append(out, one)
	}
	return out
}

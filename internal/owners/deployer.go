package owners

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// helmCommand is the field manager of the helm command (helm v3.22.0 cmd/helm/helm.go main, helm v4.3.1 cmd/helm/helm.go main). Programs
// that use Helm's library have the base name of their own executable instead (pkg/kube/client.go getManagedFieldsManager, the same in
// both).
const helmCommand = "helm"

// These are the field managers of Argo CD: the one that it applies with (argo-cd v3.6.1 common/common.go ArgoCDSSAManager), and the base
// name of its program. It renders charts and applies the objects itself, so it never writes a release.
const (
	argoCD        = "argocd-controller"
	argoCDProgram = "argocd-application-controller"
)

// Repairer is the field manager of helmdrift fix, when it writes values to a release that Helm applies server-side.
const Repairer = "helmdrift"

// Deployer is the field manager that writes the objects of a release. The next upgrade is predicted for this name, and a repair hands
// the fields that it restores over to it.
type Deployer struct {
	// Manager is the name. Predictions are made for this name even if it is not Known.
	Manager string
	// Known reports whether the cluster shows the name.
	Known bool
	// Others are the other names that the deployer may have, if it is not Known.
	Others []string
}

// FindDeployer finds the deployer in the managedFields of the live objects of a release. One manager writes all objects of a release,
// so the objects with the strongest evidence must agree on its name. If they show nothing and the release is being installed, the
// deployer is the helm command, because the prediction is about helm install.
func FindDeployer(live []map[string]any, known Managers, release string, installs bool) Deployer {
	best, all := noEvidence, []string(nil)
	for _, object := range live {
		found, managers := evidenceOf(object, known, release)
		if found > best {
			best, all = found, nil
		}
		if found == best {
			all = append(all, managers...)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	switch {
	case best > onlyOthers && len(all) == 1:
		return Deployer{Manager: all[0], Known: true}
	case best <= onlyOthers && installs:
		return Deployer{Manager: helmCommand, Known: true}
	}
	out := Deployer{Manager: helmCommand}
	if best > onlyOthers && !slices.Contains(all, helmCommand) {
		out.Manager = all[0]
	}
	out.Others = slices.DeleteFunc(all, func(name string) bool { return name == out.Manager })
	return out
}

// strength says how well an object shows who deployed it.
type strength int

const (
	noEvidence strength = iota
	// onlyOthers: unknown managers applied a part of the object. Any of them may have deployed it.
	onlyOthers
	// controllerApplied: a controller owns the release annotation by an apply. It uses Helm's library, or it applies objects that have
	// the annotation already.
	controllerApplied
	// deployerWrote: a program that is known to deploy wrote any part of the object.
	deployerWrote
	// annotationUpdated: a manager owns the release annotation by an update, as client-side Helm does.
	annotationUpdated
	// annotationApplied: a manager owns the release annotation by an apply, as server-side Helm does.
	annotationApplied
)

// evidenceOf returns who may have deployed one live object, and how well the object shows that. If several managers have the same evidence,
// the one that wrote last deployed last.
//
// It does not decode the fields, because every object of a release is asked, and most of them are as Helm left them.
func evidenceOf(live map[string]any, known Managers, release string) (strength, []string) {
	isAnnotated := object.Child(object.Child(live, "metadata"), "annotations")[object.ReleaseNameAnnotation] == release
	best, by := noEvidence, []report.Owner(nil)
	for _, raw := range RawEntries(live) {
		if !ownsAny(raw) {
			continue
		}
		owner := OwnerOf(raw)
		owner.Group = known.groupOf(owner.Manager)
		s := strengthOf(owner, isAnnotated && names(raw, "metadata", "annotations", object.ReleaseNameAnnotation))
		if s > best {
			best, by = s, nil
		}
		if s == best {
			by = append(by, owner)
		}
	}
	if best == noEvidence {
		return noEvidence, nil
	}
	if best > onlyOthers {
		by = latest(by)
	}
	managers := make([]string, len(by))
	for i, w := range by {
		managers[i] = w.Manager
	}
	return best, managers
}

// strengthOf returns how strong the evidence of one writer is. A person's tool does not deploy a release, even if it owns the release
// annotation after an adoption by hand. Neither does Argo CD, nor a controller that updates the annotation, such as one that restores
// backups.
func strengthOf(w report.Owner, ownsAnnotation bool) strength {
	isApply, isController := w.Operation == "Apply", w.Group == report.ManagerController
	switch {
	case w.Group == report.ManagerPerson, w.Manager == Repairer, w.Manager == argoCD, w.Manager == argoCDProgram,
		w.Subresource != "", IsForgotten(w.Manager):
		return noEvidence
	case ownsAnnotation && isApply && !isController:
		return annotationApplied
	case ownsAnnotation && !isController:
		return annotationUpdated
	case w.Group == report.ManagerDeployer:
		return deployerWrote
	case ownsAnnotation && isApply:
		return controllerApplied
	case isApply:
		return onlyOthers
	}
	return noEvidence
}

// latest returns the writer that wrote last, or all writers if their times do not show it.
func latest(all []report.Owner) []report.Owner {
	order.Sort(all, laterFirst)
	if len(all) > 1 && all[0].Time != nil && (all[1].Time == nil || all[0].Time.After(*all[1].Time)) {
		return all[:1]
	}
	return all
}

// Uncertainty returns a sentence that says that the name is not known, or "" if it is known.
func (d Deployer) Uncertainty() string {
	switch {
	case d.Known:
		return ""
	case len(d.Others) == 0:
		return "the cluster does not show which field manager deploys the release"
	}
	return fmt.Sprintf("the cluster does not show which field manager deploys the release: it may be %s or %s",
		d.Manager, strings.Join(d.Others, " or "))
}

package flux

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Finish adds to the report of the comparison what Flux does. If Flux does nothing, it also finds out whether the chart has changed all the
// same.
func (p *Plan) Finish(ctx context.Context, result *drift.Result, r *report.Release) {
	h := p.release
	d := p.decision.corrected(h.Mode(), p.hasCorrectable(r))
	notRolledOut := 0
	if p.Preview.Chart != nil && (d.action == report.DeployerNone || d.action == report.DeployerCorrect) {
		if notRolledOut = p.notRolledOut(ctx, result); len(p.composed.Unknown) > 0 {
			notRolledOut = 0 // the values may make the difference
		}
		if notRolledOut > 0 {
			d.reason += fmt.Sprintf(", although %s of the chart %s from what is deployed: Flux rolls them out when the version of the chart changes",
				english.Count(notRolledOut, "object"), deployer.Differ(notRolledOut))
		}
	}
	r.Deployer = &report.Deployer{
		Kind: "HelmRelease", Namespace: h.Metadata.Namespace, Name: h.Metadata.Name, Controller: report.ControllerFlux,
		Action: d.action, Reason: d.reason, Otherwise: d.otherwise, PutsBack: p.putsBack(d),
		NotRolledOut: notRolledOut, Inputs: p.inputs(),
	}
	if p.Preview.Chart != nil && d.action == report.DeployerUpgrade {
		p.checkKept(ctx, result)
	}
	p.checkDefinitions(ctx, d)
	p.addLimits(d)
	if p.doubt != "" {
		p.lacks(p.doubt)
	}
	r.Warnings = append(r.Warnings, p.warnings...)
	r.Errors = append(r.Errors, p.problems...)
}

// hasCorrectable reports whether something drifted that the drift detection of Flux sees. It compares each object of the manifest with an
// apply of it, except metadata other than labels and annotations, and knows no rules but its own: it also puts back replicas that an
// autoscaler has set. An object that is being deleted stays so (fluxcd/helm-controller v1.6.0 internal/action/diff.go Diff, fluxcd/pkg
// ssa v0.76.1 jsondiff/unstructured.go).
func (p *Plan) hasCorrectable(r *report.Release) bool {
	ignores := func(rule *report.IgnoreRule) bool { return rule != nil && rule.Origin == report.ControllerFlux }
	return !r.Terminating && slices.ContainsFunc(r.Objects, func(o report.Object) bool {
		switch {
		case o.Terminating:
			return false
		case o.Missing:
			return !ignores(o.IgnoredBy)
		}
		return slices.ContainsFunc(o.Fields, func(f report.Finding) bool {
			at := cmp.Or(f.Pointer, f.DesiredPointer)
			isSeen := !strings.HasPrefix(at, "/metadata/") ||
				strings.HasPrefix(at, "/metadata/labels") || strings.HasPrefix(at, "/metadata/annotations")
			hasLeft := f.Managed && f.Cause != report.CauseChange && f.Class != report.ClassAllocated && !f.Equivalent
			return isSeen && hasLeft && !ignores(f.IgnoredBy)
		})
	})
}

// checkKept finds out whether the upgrade is to a chart that source-controller keeps although the source has another one of the same
// version.
func (p *Plan) checkKept(ctx context.Context, drifted *drift.Result) {
	if changed := p.notRolledOut(ctx, drifted); changed > 0 {
		p.lacks(fmt.Sprintf("%s of the chart %s from what is deployed under version %s: source-controller keeps the chart that it built first, "+
			"so the upgrade deploys that one, and the comparison is with the other",
			english.Count(changed, "object"), deployer.Differ(changed), p.chart.version))
	}
}

// unknownContent begins the warning that the chart may have changed.
const unknownContent = "whether the chart has changed under the same version is not known: "

// notRolledOut returns how many objects an upgrade to the chart of the preview would change although Flux does not make it. Drifted may be
// the comparison with another upgrade.
func (p *Plan) notRolledOut(ctx context.Context, drifted *drift.Result) int {
	unknown := func(why string) int {
		p.warn(CodeWarning, unknownContent+why)
		return 0
	}
	if p.kept == nil && p.isDeployed(drifted.Loaded) {
		return 0
	}
	p.previews = true
	result, err := drifted.WithChart(ctx, p.Preview)
	switch {
	case err != nil:
		return unknown(err.Error())
	case result == drifted:
		return 0 // the preview is what is deployed
	}
	would := result.Report(threeway.Mask{})
	if len(would.Errors) > 0 {
		return unknown(would.Errors[0].Message)
	}
	return deployer.Changed(would.Objects)
}

// putsBack says when Flux puts drift back.
func (p *Plan) putsBack(d decision) report.PutsBack {
	if isGoing(p.release) {
		return report.PutsBackNever
	}
	switch d.action {
	case report.DeployerCorrect:
		return report.PutsBackNow
	case report.DeployerNone, report.DeployerUpgrade, report.DeployerInstall, report.DeployerRollback:
		return report.PutsBackUpgrade
	}
	return report.PutsBackNever
}

// inputs returns what the decision depends on.
func (p *Plan) inputs() []report.DeployerInput {
	out := p.offer.inputs
	for i := range out {
		out[i].Version = shownVersion(p.chart.version)
	}
	for _, ref := range p.composed.Inputs {
		out = append(out, report.DeployerInput{Use: "values", Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name})
	}
	return out
}

// ownDefinitions returns what helm-controller writes of the folder crds/ of a chart: the definitions alone, with its labels
// (fluxcd/helm-controller v1.6.0 internal/action/crds.go applyCRDs). Server-side it applies each of them with both policies, because Helm
// creates with an apply then (helm v4.3.1 pkg/kube/client.go makeCreateApplyFunc). A document that cannot be read stays: helm-controller
// fails on it.
func ownDefinitions(h *api.HelmRelease, all []render.Document) (out []render.Document) {
	for _, document := range all {
		if document.Fault == render.NoObject {
			continue
		}
		o := &unstructured.Unstructured{}
		if document.Fault == "" && o.UnmarshalJSON(document.Text()) == nil {
			if o.GroupVersionKind().GroupKind() != definitionKind {
				continue
			}
			labels := o.GetLabels()
			if labels == nil {
				labels = map[string]string{}
			}
			labels[api.HelmGroup+"/name"], labels[api.HelmGroup+"/namespace"] = h.Metadata.Name, h.Metadata.Namespace
			o.SetLabels(labels)
			if text, err := o.MarshalJSON(); err == nil {
				document = render.Document{Source: document.Source, JSON: text}
			}
		}
		out = append(out, document)
	}
	return out
}

// definitionKind is the kind of a definition of a custom kind.
var definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// checkDefinitions names what Flux does with the folder crds/ of the chart and the comparison does not have: client-side, the policy
// CreateReplace replaces the definitions that are there.
func (p *Plan) checkDefinitions(ctx context.Context, d decision) {
	policy := p.release.Spec.Upgrade.CRDs
	if d.action == report.DeployerInstall {
		policy = p.release.Spec.Install.CRDs
	}
	if policy != "CreateReplace" || p.method != report.ApplyClientSide ||
		d.action != report.DeployerUpgrade && d.action != report.DeployerInstall {
		return
	}
	var refs []object.Ref
	for _, document := range p.definitions {
		var head struct{ Metadata struct{ Name string } }
		if json.Unmarshal(document.Text(), &head) == nil {
			refs = append(refs, object.Ref{
				Key: object.Key{Group: definitionKind.Group, Kind: definitionKind.Kind, Name: head.Metadata.Name}, Version: "v1",
			})
		}
	}
	found := 0
	for _, live := range p.reading.Read(ctx, refs) {
		if live.Object != nil || live.Err != nil {
			found++
		}
	}
	if found > 0 {
		p.lacks(fmt.Sprintf("crds is CreateReplace, and Flux writes client-side, so it also replaces %s of the folder crds/, which helmdrift "+
			"does not compare", english.Count(found, "definition")))
	}
}

// addLimits names what else changes the outcome and is not predicted.
func (p *Plan) addLimits(d decision) {
	h := p.release
	for _, doubt := range p.offer.doubts {
		p.warn(CodeWarning, doubt)
	}
	if p.isOther && d.action == report.DeployerUpgrade {
		p.lacks(fmt.Sprintf("%s has another archive of chart version %s than source-controller, which keeps the one that it fetched first: "+
			"the upgrade deploys that one, and the comparison is with the other", p.offer.title, p.chart.version))
	}
	for _, absent := range p.composed.Absent {
		p.warn(CodeWarning, "spec.valuesFrom names an optional value that is not there: "+absent)
	}
	if acts := d.action == report.DeployerUpgrade || d.action == report.DeployerInstall; acts && h.Spec.ServiceAccountName != "" {
		p.warn(CodeWarning, "Flux acts as the service account "+h.Spec.ServiceAccountName+", whose rights helmdrift does not check")
	}
}

// isDeployed reports whether a deployed record has the chart of the sources and the values of the HelmRelease. It may say no although it
// has. What else a template can ask for, such as the version of the cluster, is no change of the chart.
func (p *Plan) isDeployed(loaded *release.Loaded) bool {
	if len(p.composed.Unknown) > 0 || !hasContent(loaded, p.content) || loaded.Old.Values == nil {
		return false
	}
	config, _, err := loaded.Old.Values.Decode()
	return err == nil && api.Digest(config) == p.digest
}

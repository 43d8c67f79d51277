package argo

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/argo/source"
	"github.com/helmdrift/helmdrift/internal/engine/argocd"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Finish adds to the report of the comparison what Argo CD does, and where old comes from.
func (p *Plan) Finish(_ *drift.Result, r *report.Release) {
	differs := p.differs(r, p.made.revisions)
	if differs.prunes && !p.app.IsAutomated() && p.app.Goes() == "" && p.app.UnderWay() == nil {
		p.warn("a sync by hand prunes only with --prune, and is predicted without it")
	}
	p.findUnmergeable()
	if p.broken == "" {
		p.broken = p.refusedDryRun(r)
	}
	d := p.decide(differs)
	if p.unmade != nil {
		d = decision{action: report.DeployerUnknown, reason: "the sources could not be rendered", putsBack: report.PutsBackUnknown}
	} else if p.projectUnread != nil {
		p.lacks("whether Argo CD syncs is not known: " + p.projectUnread.Error())
	} else if p.verifies && (differs.changes || differs.prunes) && p.app.Goes() == "" {
		p.lacks("AppProject " + p.app.Project() +
			" asks for signatures of the sources, which helmdrift does not verify; without them a sync fails")
	}
	r.Deployer = &report.Deployer{
		Kind: "Application", Namespace: p.app.Metadata.Namespace, Name: p.app.Metadata.Name, Controller: report.ControllerArgo,
		Action: d.action, Otherwise: d.otherwise, Reason: d.reason, PutsBack: d.putsBack, Inputs: p.inputs(),
	}
	p.setDesired(r)
	for i := range r.Objects {
		r.Objects[i].OldFrom = p.deployed.from[r.Objects[i].Key()]
	}
	p.noteRecreated(r)
	r.Warnings = append(r.Warnings, p.warnings...)
	r.Errors = append(r.Errors, p.problems...)
}

// setDesired says what the first source is that makes objects. If none does, the Application says what is desired.
func (p *Plan) setDesired(r *report.Release) {
	if p.app.Goes() != "" {
		r.Desired = nil // nobody renders its sources any more
	}
	if r.Desired == nil || p.unmade != nil {
		return
	}
	switch path := p.made.answer.Rendered.ChartName; p.made.kind {
	case "":
		r.Desired.Chart = ""
	case source.KindKustomize:
		r.Desired.Source, r.Desired.Chart = "kustomization", path
	case source.KindDirectory:
		r.Desired.Source, r.Desired.Chart = "folder", path
	}
}

// sides returns the objects of the sources and those of the cluster.
func (p *Plan) sides() (desired, live map[object.Key]map[string]any) {
	desired, live = map[object.Key]map[string]any{}, map[object.Key]map[string]any{}
	for ref, found := range p.cluster.known {
		live[ref.Key] = found.Object
	}
	for _, o := range p.made.objects {
		desired[o.Key] = o.Content
	}
	return desired, live
}

// refusedDryRun says why the API server refuses the dry run of a server-side apply by which Argo CD compares an object, or returns "". One
// such object keeps it from comparing the whole Application (gitops-engine v3.6.1 pkg/diff/diff.go serverSideDiff). If
// managedNamespaceMetadata has changed, Argo CD compares again at once. It then takes from its cache that no object differs, and is out of
// sync because of the namespace (argo-cd v3.6.1 controller/state.go useDiffCache, CompareAppState).
func (p *Plan) refusedDryRun(r *report.Release) string {
	if p.app.HasChangedNamespace() || !p.comparesServerSide() {
		return ""
	}
	desired, live := p.sides()
	for _, o := range r.Objects {
		is := p.outcome(o.Key())
		isRefused := o.Action == report.ActionFail || is.IsRefused || is.Comparison == argocd.Refused
		if desired[o.Key()] != nil && live[o.Key()] != nil && isRefused {
			return "the API server refuses the dry run of " + o.Key().String()
		}
	}
	return ""
}

// differs returns how the Application differs from its sources, as far as Argo CD looks at it. It knows no rules but its own: it also sees
// what the user ignores, and replicas that an autoscaler has set.
func (p *Plan) differs(r *report.Release, revisions []string) difference {
	out := difference{revisions: revisions, changes: p.app.HasChangedNamespace(), isEmpty: p.unmade == nil && len(p.made.objects) == 0}
	desired, live := p.sides()
	sync := p.options()
	var unseen []string
	for _, o := range r.Objects {
		if p.creates != nil && o.Key() == p.namespace.Key {
			continue // Argo CD does not compare a namespace that is not in the sources
		}
		if isIgnored(o.IgnoredBy) {
			continue
		}
		switch _, isMade := desired[o.Key()]; {
		case !isMade && (o.Action == report.ActionDelete || o.Action == report.ActionKeep):
			is := live[o.Key()]
			if argocd.HasOwner(is) {
				continue
			}
			own := api.Listed(argocd.Annotation(is, compareAnnotation))
			if out.prunes = out.prunes || !slices.Contains(own, "IgnoreExtraneous"); sync.Confirms(is) {
				out.confirms = o.Key().String()
			}
		case !counts(o):
			out.isRandom = out.isRandom ||
				slices.ContainsFunc(o.Fields, func(f report.Finding) bool { return isRandom(f) && !isIgnored(f.IgnoredBy) })
		case p.isUnseen(o):
			unseen = append(unseen, o.Key().String())
		default:
			out.changes = true
		}
	}
	if p.app.Goes() != "" {
		return out
	}
	out.changes = out.changes || out.isRandom && (p.isFromTree() || !p.app.WasInSync(revisions)) // then the repo-server renders anew
	if len(unseen) > 0 {
		p.warn("Argo CD does not see what a sync would change in " + strings.Join(unseen, ", ") +
			", since it compares in another way than it writes")
	}
	if is, stuck := p.stuck(r); is {
		out.changes = true
		if len(stuck) > 0 {
			p.warn(strings.Join(stuck, ", ") +
				": out of sync for Argo CD also after a sync, since the sources have something that the cluster does not keep")
		}
	}
	return out
}

// counts reports whether a sync creates an object, fails on it, or changes a field that Argo CD does not ignore.
func counts(o report.Object) bool {
	return o.Action == report.ActionCreate || o.Action == report.ActionFail || slices.ContainsFunc(o.Fields, func(f report.Finding) bool {
		isDropped := o.Engine == report.EngineReplace && !f.Managed // a replacement drops it, but Argo CD does not look at it
		return f.Verdict != report.Ignore && !isIgnored(f.IgnoredBy) && !isRandom(f) && !isDropped
	})
}

// isRandom reports whether a field differs only because each rendering of the sources makes another value. Argo CD does not see that until
// its repo-server renders them again, 24 hours later by default (argo-cd v3.6.1 reposerver/cache/cache.go AddCacheFlagsToCmd).
func isRandom(f report.Finding) bool {
	return f.Class == report.ClassVolatile && f.Cause == report.CauseChange && f.Verdict != report.Ignore
}

// isUnseen reports whether an object does not differ for Argo CD.
func (p *Plan) isUnseen(o report.Object) bool {
	return p.outcome(o.Key()).Comparison == argocd.InSync && o.Name != "" && o.Action != report.ActionCreate
}

// findUnmergeable finds out whether RespectIgnoreDifferences=true lets each sync fail.
func (p *Plan) findUnmergeable() {
	for _, made := range p.made.objects {
		if p.forbidden == "" && p.outcome(made.Key).Comparison == argocd.Unmergeable {
			p.forbidden = "with RespectIgnoreDifferences=true, a sync fails before it writes anything: Argo CD cannot merge " + made.Key.String()
		}
	}
}

// stuck reports whether objects differ for Argo CD although a sync changes nothing in them, and returns those that the user does not
// ignore.
func (p *Plan) stuck(r *report.Release) (is bool, named []string) {
	for _, made := range p.made.objects {
		if p.outcome(made.Key).Comparison != argocd.OutOfSync {
			continue // most are in sync, and the search below is long
		}
		number := slices.IndexFunc(r.Objects, func(o report.Object) bool { return o.Key() == made.Key })
		isUsers := false
		if number >= 0 {
			o := r.Objects[number]
			if isIgnored(o.IgnoredBy) || isChanged(o) {
				continue
			}
			isUsers = o.IgnoredBy != nil
		}
		if is = true; !isUsers {
			named = append(named, made.Key.String())
		}
	}
	return is, named
}

// isChanged reports whether a sync changes an object.
func isChanged(o report.Object) bool {
	return o.Action != report.ActionNone || slices.ContainsFunc(o.Fields, func(f report.Finding) bool { return f.Verdict != report.Ignore })
}

// isIgnored reports whether a rule is one of Argo CD.
func isIgnored(by *report.IgnoreRule) bool { return by != nil && by.Origin == report.ControllerArgo }

// inputs returns the sources.
func (p *Plan) inputs() []report.DeployerInput {
	var out []report.DeployerInput
	for i, s := range p.app.Sources() {
		in := report.DeployerInput{Use: "chart", Kind: "source", Name: s.RepoURL}
		if s.Chart != "" {
			in.Name += " " + s.Chart
		} else if s.Path != "" {
			in.Name += " " + s.Path
		}
		if i < len(p.made.revisions) {
			if in.Version = p.made.revisions[i]; p.made.folders[i].InTree {
				in.Version = "the working tree"
			}
		}
		out = append(out, in)
	}
	return out
}

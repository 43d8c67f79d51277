package threeway

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// decideUnserved decides about an object whose kind the cluster does not serve at the version that a manifest names. Helm then ends before
// it writes anything, since it builds the objects of both old and desired. Drift is reported anyway, at the version that was read.
func (c *comparer) decideUnserved(p pair, f found, rules ignore.ObjectRules) decision {
	var d decision
	d.fail(scopeAll, c.buildError(p, f.was, f.live))
	live := f.was.Object
	if live == nil {
		live = f.live.Object
	}
	switch {
	case p.old == nil:
	case live == nil:
		d.missing = true
	default:
		old := *p.old
		old.Version = cmp.Or(object.RefOf(live).Version, old.Version)
		p.old = &old
		if d.fields = c.compareFields(p.withoutChange(), rules, live, old.Content); d.unpatched != nil {
			d.notes.Add(d.unpatched.Error())
		}
	}
	return d
}

// buildError returns Helm's error for manifests that it cannot build, in the order it builds them. An upgrade first checks desired,
// and adds no prefix to that error (helm v3.22.0 pkg/action upgrade.go validateManifest; rollback.go, install.go).
func (c *comparer) buildError(p pair, was, live cluster.Live) string {
	oldGone := p.old != nil && was.Absence == cluster.AbsentKind
	desiredGone := p.desired != nil && live.Absence == cluster.AbsentKind
	switch {
	case c.in.Operation == report.OperationInstall:
		return "unable to build kubernetes objects from release manifest: " + noKindMatch(p.desired)
	case c.in.Operation != report.OperationRollback && desiredGone:
		return noKindMatch(p.desired)
	case oldGone:
		return "unable to build kubernetes objects from current release manifest: " + noKindMatch(p.old)
	}
	return "unable to build kubernetes objects from new release manifest: " + noKindMatch(p.desired)
}

func noKindMatch(o *object.Object) string {
	return fmt.Sprintf("no matches for kind %q in version %q; ensure CRDs are installed first", o.Kind, o.APIVersion())
}

// decideConverted decides about an object whose manifests have different versions. It finds drift at old's version, and takes the
// verdicts from Helm's patch at desired's version. Helm checks the ownership of such an object as if it were new.
func (c *comparer) decideConverted(p pair, rules ignore.ObjectRules, was, live map[string]any) decision {
	var then fields
	if was != nil {
		then = c.compareFields(p.withoutChange(), rules, was, p.old.Content) // Helm makes no patch there, so an error does not matter
	}
	d := c.decideUpdate(p, rules, live, p.old.Content)
	c.checkOwnership(&d, p.desired, live)
	d.moves = len(d.Findings) > 0
	if p.last != nil && p.last.Version == p.desired.Version {
		// What the last revision left is reported at the version it was written at.
		then.Findings = slices.DeleteFunc(then.Findings, func(f verdict.Finding) bool { return f.OfLast && !f.Managed })
	}
	d.Findings = mergeVersions(then.Findings, d.Findings, fmt.Sprintf("read at %s, where old was written; the upgrade writes %s",
		p.old.APIVersion(), p.desired.APIVersion()))
	d.notes.Add("moves from " + p.old.APIVersion() + " to " + p.desired.APIVersion())
	return d
}

// mergeVersions joins the drift at old's version with the verdicts at desired's. A difference at desired's version is drift only if the
// object drifted: old's text proves nothing at a version that it was not written for. A struct may be one value at only one of the
// versions, so a finding above or below another counts as the same.
func mergeVersions(then, now []verdict.Finding, note string) []verdict.Finding {
	drifted := slices.ContainsFunc(then, verdict.Finding.Drifted)
	var out []verdict.Finding
	for _, f := range now {
		here := slices.ContainsFunc(then, func(other verdict.Finding) bool { return f.Path.Overlaps(other.Path) })
		switch {
		case !here && f.Verdict == report.Ignore && f.OfLast: // the last revision has desired's version, so its text proves something
			f.Cause = report.CauseDrift
		case !here && f.Verdict == report.Ignore:
			continue
		case !here && !drifted:
			f.Cause = report.CauseChange
		case here == (f.Cause == report.CauseChange):
			f.Cause = report.CauseBoth
		}
		out = append(out, f)
	}
	for _, f := range then {
		if slices.ContainsFunc(now, func(other verdict.Finding) bool { return f.Path.Overlaps(other.Path) }) {
			continue
		}
		f.Verdict, f.Certain, f.Notes = report.Ignore, false, report.NotesOf(note)
		out = append(out, f)
	}
	verdict.Sort(out)
	return out
}

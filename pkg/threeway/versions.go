package threeway

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// unserved decides an object whose kind the cluster does not serve at the version that a manifest names. Helm then ends before
// it writes anything: it builds the objects of old as well as those of desired. Drift is told all the same, at the version
// that was read.
func (c comparer) unserved(out *ObjectComparison, p pair, was, live Live) {
	out.fail(stopAll, c.refusedToBuild(p, was, live))
	object := was.Object
	if object == nil {
		object = live.Object
	}
	if p.old == nil {
		return
	}
	if out.Missing = object == nil; out.Missing {
		return
	}
	old := *p.old
	old.Version = versionOf(object, old.Version)
	p.old = &old
	if err := c.compareFields(out, p.unchanged(), object, old.Content); err != nil {
		out.addNote(err.Error())
	}
}

// refusedToBuild is what Helm says of manifests that it cannot build, in the order in which it builds them: an upgrade first checks what
// comes, and adds no words of its own there (helm v3.22.0 pkg/action upgrade.go validateManifest; rollback.go, install.go).
func (c comparer) refusedToBuild(p pair, was, live Live) string {
	oldGone := p.old != nil && was.Absence == AbsentKind
	desiredGone := p.desired != nil && live.Absence == AbsentKind
	switch {
	case c.in.Operation == report.OperationInstall:
		return "unable to build kubernetes objects from release manifest: " + noMatch(p.desired)
	case c.in.Operation != report.OperationRollback && desiredGone:
		return noMatch(p.desired)
	case oldGone:
		return "unable to build kubernetes objects from current release manifest: " + noMatch(p.old)
	}
	return "unable to build kubernetes objects from new release manifest: " + noMatch(p.desired)
}

func noMatch(o *object.Object) string {
	return fmt.Sprintf("no matches for kind %q in version %q; ensure CRDs are installed first", o.Kind, o.APIVersion())
}

// versionOf is the version at which an object was read.
func versionOf(object map[string]any, otherwise string) string {
	apiVersion, _ := object["apiVersion"].(string)
	for i := len(apiVersion) - 1; i >= 0; i-- {
		if apiVersion[i] == '/' {
			return apiVersion[i+1:]
		}
	}
	if apiVersion == "" {
		return otherwise
	}
	return apiVersion
}

// convert compares an object whose manifests name different versions. Drift is what left old at old's version; verdicts are
// Helm's patch at desired's. Helm checks the ownership of such an object as if it were new.
func (c comparer) convert(out *ObjectComparison, p pair, was, live map[string]any) {
	then := ObjectComparison{Object: *p.old}
	if was != nil {
		// Whether a patch can be made at old's version matters not: Helm makes none there.
		_ = c.compareFields(&then, p.unchanged(), was, p.old.Content)
	}
	c.update(out, p, live, p.old.Content)
	c.checkOwnership(out, live)
	if p.last != nil && p.last.Version == p.desired.Version {
		// What the last revision left is told at the version at which it was written.
		then.Findings = slices.DeleteFunc(then.Findings, func(f Finding) bool { return f.OfLast && !f.Managed })
	}
	out.Findings = mergeVersions(then.Findings, out.Findings, fmt.Sprintf("read at %s, where old was written; the upgrade writes %s",
		p.old.APIVersion(), p.desired.APIVersion()))
	out.addNote("moves from " + p.old.APIVersion() + " to " + p.desired.APIVersion())
}

// mergeVersions joins what drifted at old's version with what the upgrade does at desired's. A difference at desired's version
// is drift only if the object drifted: old's text, read at a version it was not written for, proves nothing.
func mergeVersions(then, now []Finding, note string) []Finding {
	drift, drifted := map[string]Finding{}, false
	for _, f := range then {
		drift[f.Path.String()] = f
		drifted = drifted || f.Drifted()
	}
	var out []Finding
	for _, f := range now {
		_, here := drift[f.Path.String()]
		delete(drift, f.Path.String())
		switch {
		case !here && f.Verdict == report.Ignore && f.OfLast: // of a last revision at desired's version, so its text proves something
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
	for _, path := range object.SortedKeys(drift) {
		f := drift[path]
		f.Verdict, f.Certain, f.Note = report.Ignore, false, note
		out = append(out, f)
	}
	sortFindings(out)
	return out
}

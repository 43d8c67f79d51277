package output

import (
	"slices"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// shown leaves out what rules silence, and objects of which nothing else is said, unless the reader asks for it.
func (t *text) shown(rel report.Release) report.Release {
	if t.showIgnored {
		return rel
	}
	var objects []report.Object
	for _, o := range rel.Objects {
		if isHidden(o) {
			continue
		}
		o.Fields = slices.DeleteFunc(slices.Clone(o.Fields), isRuled)
		objects = append(objects, o)
	}
	rel.Objects = objects
	return rel
}

// isRuled tells whether a rule silences a finding.
func isRuled(f report.Finding) bool { return f.IgnoredBy != nil }

// isHidden reports whether rules silence all that is said of an object, or whether it has nothing but what the last lines count. What an
// upgrade does to it otherwise, such as a failure, is not theirs to silence unless they are about the whole object.
func isHidden(o report.Object) bool {
	switch {
	case o.Error != nil || o.DryRun != nil && o.DryRun.Result == dryRunDisagrees:
		return false
	case slices.ContainsFunc(o.Fields, func(f report.Finding) bool { return !isRuled(f) }):
		return false
	case o.IgnoredBy != nil:
		return true
	}
	small := o.Action == report.ActionNone || o.Action == report.ActionUpdate || o.Action == report.ActionReplace
	return small && (len(o.Fields) > 0 || o.Forgotten > 0) && len(o.Notes) == 0
}

// ruled counts what rules silence: fields, and objects that are missing, being deleted or fail.
func ruled(r *report.Report) (n int) {
	for _, rel := range r.Releases {
		for _, o := range rel.Objects {
			n += one(o.IgnoredBy != nil && (o.Gone() || o.Action == report.ActionFail))
			for _, f := range o.Fields {
				n += one(isRuled(f))
			}
		}
	}
	return n
}

package ignore

import (
	"fmt"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Apply silences the findings of a saved report that the rules name, as a comparison with these rules would have done, and counts the
// summary again. What a rule silenced when the report was made keeps that rule.
//
// A saved report has findings and no objects. If what a rule silences depends on more than that, such as the labels of an object, the
// error names the rule and the object, and the report is not usable.
func Apply(rules []Rule, r *report.Report) error {
	for i := range r.Releases {
		release := &r.Releases[i]
		held := object.Filter(rules, func(rule Rule) bool { return rule.isFor(release.Name) })
		for j := range release.Objects {
			if err := applyToObject(held, &release.Objects[j]); err != nil {
				return fmt.Errorf("%s %s of release %s: %w", release.Objects[j].Kind, release.Objects[j].Name, release.Name, err)
			}
		}
	}
	r.Recount()
	return nil
}

// applyToObject silences what the rules name of one object.
func applyToObject(rules []Rule, o *report.Object) error {
	var held []Rule
	for _, rule := range rules {
		selected, err := rule.selectsSaved(o)
		if err != nil {
			return err
		}
		if selected {
			held = append(held, rule)
		}
	}
	for i := range o.Fields {
		if err := applyToField(held, &o.Fields[i]); err != nil {
			return err
		}
	}
	if whole := (&ObjectRules{rules: held}).Field(nil, nil, true); o.IgnoredBy == nil {
		o.IgnoredBy = whole
	}
	return checkConflicts(held, o)
}

// selectsSaved reports whether the rule is about an object of a saved report. Selectors of labels and annotations are an error if the rest
// of the rule selects the object.
func (r Rule) selectsSaved(o *report.Object) (bool, error) {
	selectors := r.Target.Labels != nil || r.Target.Annotations != nil
	r.Target.Labels, r.Target.Annotations = nil, nil
	if !r.selects(o.Ref(), nil) {
		return false, nil
	}
	if selectors {
		return false, r.lacks("labels and annotations")
	}
	return true, nil
}

// lacks returns the error that a saved report lacks what the rule needs.
func (r Rule) lacks(what string) error {
	return fmt.Errorf("%s cannot be applied to a saved report, which does not have the %s; helmdrift diff applies every rule", r.Name, what)
}

// applyToField silences a finding that a rule names.
func applyToField(rules []Rule, f *report.Finding) error {
	if f.IgnoredBy != nil {
		return nil
	}
	path := savedPathOf(*f)
	for _, r := range rules {
		switch covers := r.coversSaved(path, *f); covers {
		case yes:
			f.IgnoredBy = r.named()
			return nil
		case unknown:
			return r.lacks("list or the parts of " + f.Path)
		case no:
		}
	}
	return nil
}

// coversSaved reports whether the rule silences a finding of a saved report. It is unknown if the rule names a part of the finding, or the
// writers of the whole, since others may have written a part: a comparison would have reported such parts one by one.
func (r Rule) coversSaved(path savedPath, f report.Finding) answer {
	hasParts := !isOneValue(f)
	covered := r.coversSavedPath(path, hasParts)
	switch {
	case len(r.Managers) == 0:
		return covered
	case !r.coversOwners(f.Owners):
		return no
	case hasParts:
		return min(covered, unknown)
	}
	return covered
}

// coversSavedPath reports whether the rule has no paths, or one that covers the path. A path into the finding is unknown if it has parts.
func (r Rule) coversSavedPath(path savedPath, hasParts bool) answer {
	if len(r.Paths) == 0 {
		return yes
	}
	out := no
	for _, p := range r.Paths {
		switch covered := p.coversSaved(path, hasParts); covered {
		case yes:
			return yes
		case unknown:
			out = unknown
		case no:
		}
	}
	return out
}

// isOneValue reports whether no side of the finding is a map or a list. A masked side may be one.
func isOneValue(f report.Finding) bool {
	for _, side := range []any{f.Old, f.Desired, f.Live, f.After} {
		if side != nil && side != (object.Null{}) && !object.IsScalar(side) {
			return false
		}
	}
	return !f.Masked
}

// checkConflicts returns an error if a rule might silence that the operation fails on the object: a saved report does not say whether it
// fails for another reason than conflicts, too.
func checkConflicts(rules []Rule, o *report.Object) error {
	if o.Action != report.ActionFail || o.IgnoredBy != nil {
		return nil
	}
	conflicts := 0
	for _, f := range o.Fields {
		if f.Verdict == report.Conflict {
			if conflicts++; f.IgnoredBy == nil {
				return nil
			}
		}
	}
	for _, r := range rules {
		if r.Conflicts && conflicts > 0 {
			return r.lacks("other reasons for which the operation fails")
		}
	}
	return nil
}

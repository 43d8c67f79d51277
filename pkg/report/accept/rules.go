package accept

import (
	"regexp"
	"slices"
	"time"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// Rules returns the rules that silence everything that counts in the report and nothing else; whoever adds them to .helmdrift.yaml
// accepts the release as it is. Each rule names one object and the paths of its findings. It names the object as a whole if the object
// is missing or being deleted, or if the operation fails on it for another reason than conflicts. No rule can name a list item that
// live lacks and whose key is a secret. The reason of each rule is the date of the report. Call it only if [HasPatterns].
func Rules(r *report.Report) []report.RuleText {
	out := []report.RuleText{}
	for _, release := range r.Releases {
		for _, o := range release.Objects {
			if rule := ruleOf(o); len(rule.Paths) > 0 {
				rule.Releases, rule.Reason = []string{release.Name}, "accepted on "+r.Time.Format(time.DateOnly)
				out = append(out, rule)
			}
		}
	}
	return out
}

// HasPatterns reports whether the findings of a report have the patterns that rules need. Reports that were saved by older versions have
// none.
func HasPatterns(r *report.Report) bool {
	isEmpty := true
	for _, release := range r.Releases {
		for _, o := range release.Objects {
			if slices.ContainsFunc(o.Fields, func(f report.Finding) bool { return f.Pattern != "" }) {
				return true
			}
			isEmpty = isEmpty && len(o.Fields) == 0
		}
	}
	return isEmpty
}

// ruleOf returns the rule that silences what counts in the object. It has no paths if nothing counts.
func ruleOf(o report.Object) report.RuleText {
	rule := report.RuleText{Target: targetOf(o)}
	isConflict := o.OnlyConflicts && o.IgnoredBy == nil
	for _, f := range o.Fields {
		if (!f.Silenced() || isConflict && f.Verdict == report.Conflict) && f.Pattern != "" {
			rule.Paths = append(rule.Paths, f.Pattern)
		}
	}
	switch {
	case o.IgnoredBy != nil:
	case o.Gone() || o.Action == report.ActionFail && !o.OnlyConflicts:
		rule.Paths = []string{""}
	default:
		rule.Conflicts = isConflict
	}
	return rule
}

// targetOf selects this object alone, at every version of its group. An empty group would select every group, so an object of the core
// group is selected by its version.
func targetOf(o report.Object) *report.TargetText {
	group, version := o.Key().Group, o.Ref().Version
	if group != "" {
		version = ""
	}
	quote := regexp.QuoteMeta
	return &report.TargetText{
		Group: quote(group), Version: quote(version), Kind: quote(o.Kind), Name: quote(o.Name), Namespace: quote(o.Namespace),
	}
}

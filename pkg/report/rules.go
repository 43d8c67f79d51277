package report

import (
	"regexp"
	"time"
)

// Rules returns the rules that silence everything that counts in the report and nothing else; whoever adds them to .helmdrift.yaml
// accepts the release as it is. Each rule names one object and the paths of its findings. It names the object as a whole if the object
// is missing or being deleted, or if the operation fails on it for another reason than conflicts. No rule can name a list item whose
// key is a secret and which live lacks. The reason of each is the date of the report. Call it only on a report that [New] or [NewScan]
// made, not on one that was read: Pattern and OnlyConflicts are not saved.
func (r *Report) Rules() []RuleText {
	out := []RuleText{}
	for _, release := range r.Releases {
		for _, o := range release.Objects {
			if rule := o.rule(); len(rule.Paths) > 0 {
				rule.Releases, rule.Reason = []string{release.Name}, "accepted on "+r.Time.Format(time.DateOnly)
				out = append(out, rule)
			}
		}
	}
	return out
}

// rule returns the rule that silences what counts of the object. It has no paths if nothing counts.
func (o *Object) rule() RuleText {
	rule := RuleText{Target: o.target()}
	isConflict := o.OnlyConflicts && o.IgnoredBy == nil
	for _, f := range o.Fields {
		if (!f.Silenced() || isConflict && f.Verdict == Conflict) && f.Pattern != "" {
			rule.Paths = append(rule.Paths, f.Pattern)
		}
	}
	switch {
	case o.IgnoredBy != nil:
	case o.Gone() || o.Action == ActionFail && !o.OnlyConflicts:
		rule.Paths = []string{""}
	default:
		rule.Conflicts = isConflict
	}
	return rule
}

// target selects this object alone, at every version of its group. An empty group would select every group, so an object of the core
// group is selected by its version.
func (o *Object) target() *TargetText {
	group, version := o.groupVersion()
	if group != "" {
		version = ""
	}
	quote := regexp.QuoteMeta
	return &TargetText{Group: quote(group), Version: quote(version), Kind: quote(o.Kind), Name: quote(o.Name), Namespace: quote(o.Namespace)}
}

// RuleText is one ignore rule as a file has it. Its keys are those of spec.driftDetection.ignore of Flux for whatever Flux has;
// docs/ignore.md describes them.
type RuleText struct {
	// Paths are JSON pointers with patterns, such as /spec/replicas; "" is the object as a whole.
	Paths []string `json:"paths,omitempty"`
	// Target selects the objects; nil selects all.
	Target *TargetText `json:"target,omitempty"`
	// Managers are names of field managers: the rule then silences only what these wrote. They may begin or end in *.
	Managers []string `json:"managers,omitempty"`
	// Releases are names of releases; without any, the rule holds for all.
	Releases []string `json:"releases,omitempty"`
	// Conflicts also silences that the operation fails on the object, as long as rules silence each conflict that it fails on.
	Conflicts bool   `json:"conflicts,omitempty"`
	Reason    string `json:"reason,omitempty"`
	// Expires is the last day on which the rule holds, such as 2027-01-31.
	Expires string `json:"expires,omitempty"`
}

// TargetText selects objects. The first five are regular expressions; the selectors are written as for kubectl. What is empty selects
// everything.
type TargetText struct {
	Group              string `json:"group,omitempty"`
	Version            string `json:"version,omitempty"`
	Kind               string `json:"kind,omitempty"`
	Namespace          string `json:"namespace,omitempty"`
	Name               string `json:"name,omitempty"`
	LabelSelector      string `json:"labelSelector,omitempty"`
	AnnotationSelector string `json:"annotationSelector,omitempty"`
}

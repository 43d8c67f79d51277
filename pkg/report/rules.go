package report

import (
	"regexp"
	"strings"
	"time"
)

// Rules are those that would silence all that counts in a report, and nothing else: who keeps them accepts what is. A rule names one
// object and the places of it. It names the object as a whole where that is missing or being deleted, or where the operation fails on it
// for another reason than conflicts. An item that is named by a secret, and that live lacks, no rule can name.
func (r *Report) Rules() []RuleText {
	out := []RuleText{}
	for _, release := range r.Releases {
		for _, o := range release.Objects {
			rule := RuleText{Releases: []string{release.Name}, Target: o.target(), Reason: "accepted on " + r.Time.Format(time.DateOnly)}
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
			if len(rule.Paths) > 0 {
				out = append(out, rule)
			}
		}
	}
	return out
}

// target selects this object alone.
func (o *Object) target() *TargetText {
	group, version := "", o.APIVersion // an empty group would be any
	if of, _, grouped := strings.Cut(o.APIVersion, "/"); grouped {
		group, version = of, "" // the rule holds at other versions, too
	}
	word := regexp.QuoteMeta
	return &TargetText{Group: word(group), Version: word(version), Kind: word(o.Kind), Name: word(o.Name), Namespace: word(o.Namespace)}
}

// RuleText is one rule as a file has it, in the words of Flux where Flux has them.
type RuleText struct {
	Paths    []string    `json:"paths,omitempty"`
	Target   *TargetText `json:"target,omitempty"`
	Managers []string    `json:"managers,omitempty"`
	Releases []string    `json:"releases,omitempty"`
	// Conflicts also silences that the operation fails on the object, as long as rules silence each conflict that it fails on.
	Conflicts bool   `json:"conflicts,omitempty"`
	Reason    string `json:"reason,omitempty"`
	// Expires is the last day on which the rule holds, such as 2027-01-31.
	Expires string `json:"expires,omitempty"`
}

// TargetText selects objects; each text is a regular expression, the selectors are those of kubectl.
type TargetText struct {
	Group              string `json:"group,omitempty"`
	Version            string `json:"version,omitempty"`
	Kind               string `json:"kind,omitempty"`
	Namespace          string `json:"namespace,omitempty"`
	Name               string `json:"name,omitempty"`
	LabelSelector      string `json:"labelSelector,omitempty"`
	AnnotationSelector string `json:"annotationSelector,omitempty"`
}

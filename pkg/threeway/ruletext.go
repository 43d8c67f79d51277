package threeway

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

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

// WarnIgnoreRule is the code of warnings about rules.
const WarnIgnoreRule = "ignore-rule"

// ReadRules makes what it can of rules that stand in one place, such as a file. One that is broken, or that has expired by now, holds
// for nothing, and a warning says so.
func ReadRules(source string, texts []RuleText, now time.Time) (rules []Rule, warnings []Message) {
	for i, text := range texts {
		rule, err := text.rule(fmt.Sprintf("%s ignore[%d]", source, i))
		switch {
		case err != nil:
			warnings = append(warnings, Message{Code: WarnIgnoreRule, Message: fmt.Sprintf("%s holds for nothing: %v", rule.Name, err)})
		case text.expired(now):
			warnings = append(warnings, Message{Code: WarnIgnoreRule, Message: fmt.Sprintf(
				"%s expired on %s: what it ignored is shown again; renew the date or drop the rule", rule.Name, text.Expires)})
		default:
			rules = append(rules, rule)
		}
	}
	return rules, warnings
}

// expired tells whether the rule's last day is past.
func (t RuleText) expired(now time.Time) bool {
	last, err := time.ParseInLocation(time.DateOnly, t.Expires, now.Location())
	return err == nil && !now.Before(last.AddDate(0, 0, 1))
}

func (t RuleText) rule(name string) (Rule, error) {
	out := Rule{Name: name, Reason: t.Reason, Managers: t.Managers, Releases: t.Releases, Conflicts: t.Conflicts}
	if _, err := time.Parse(time.DateOnly, t.Expires); t.Expires != "" && err != nil {
		return out, fmt.Errorf("expires: %q is no date such as 2027-01-31", t.Expires)
	}
	for _, path := range t.Paths {
		pattern, err := ParsePattern(path)
		if err != nil {
			return out, err
		}
		out.Paths = append(out.Paths, pattern)
	}
	var err error
	if t.Target != nil {
		out.Target, err = t.Target.target()
	}
	if err == nil && out.SelectsEverything() {
		err = ErrSelectsEverything
	}
	return out, err
}

func (t TargetText) target() (Target, error) {
	var out Target
	var errs []error
	word := func(text string) *regexp.Regexp {
		compiled, err := wholeWord(text)
		errs = append(errs, err)
		return compiled
	}
	selector := func(text string) labels.Selector {
		if text == "" {
			return nil
		}
		parsed, err := labels.Parse(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("target: %q is no selector: %w", text, err))
		}
		return parsed
	}
	out.Group, out.Version, out.Kind = word(t.Group), word(t.Version), word(t.Kind)
	out.Namespace, out.Name = word(t.Namespace), word(t.Name)
	out.Labels, out.Annotations = selector(t.LabelSelector), selector(t.AnnotationSelector)
	return out, errors.Join(errs...)
}

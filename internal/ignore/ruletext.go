package ignore

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// WarnIgnoreRule is the code of warnings about rules.
const WarnIgnoreRule = "ignore-rule"

// ReadRules makes what it can of rules that stand in one place, such as a file. One that is broken, or that has expired by now, holds
// for nothing, and a warning says so.
func ReadRules(source string, texts []report.RuleText, now time.Time) (rules []Rule, warnings []report.Message) {
	for i, text := range texts {
		rule, err := ruleOf(text, fmt.Sprintf("%s ignore[%d]", source, i))
		switch {
		case err != nil:
			warnings = append(warnings, report.Message{Code: WarnIgnoreRule, Message: fmt.Sprintf("%s holds for nothing: %v", rule.Name, err)})
		case hasExpired(text, now):
			warnings = append(warnings, report.Message{Code: WarnIgnoreRule, Message: fmt.Sprintf(
				"%s expired on %s: what it ignored is shown again; renew the date or drop the rule", rule.Name, text.Expires)})
		default:
			rules = append(rules, rule)
		}
	}
	return rules, warnings
}

// hasExpired reports whether a rule's last day is past.
func hasExpired(t report.RuleText, now time.Time) bool {
	last, err := time.ParseInLocation(time.DateOnly, t.Expires, now.Location())
	return err == nil && !now.Before(last.AddDate(0, 0, 1))
}

func ruleOf(t report.RuleText, name string) (Rule, error) {
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
		out.Target, err = targetOf(*t.Target)
	}
	if err == nil && out.SelectsEverything() {
		err = ErrSelectsEverything
	}
	return out, err
}

func targetOf(t report.TargetText) (Target, error) {
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

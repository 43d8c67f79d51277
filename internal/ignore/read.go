package ignore

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// WarningCode is the code of warnings about rules.
const WarningCode = "ignore-rule"

// ReadRules returns the rules of one source, such as a file. A rule that is invalid, or that has expired by now, has no effect, and a
// warning says so.
func ReadRules(source string, texts []report.RuleText, now time.Time) (rules []Rule, warnings []report.Message) {
	for i, text := range texts {
		rule, err := ruleOf(text, cmp.Or(text.Name, fmt.Sprintf("%s ignore[%d]", source, i)))
		switch {
		case err != nil:
			warnings = append(warnings, report.Message{Code: WarningCode, Message: fmt.Sprintf("%s has no effect: %v", rule.Name, err)})
		case hasExpired(text, now):
			warnings = append(warnings, report.Message{Code: WarningCode, Message: fmt.Sprintf(
				"%s expired on %s: what it ignored is shown again; renew the date or remove the rule", rule.Name, text.Expires)})
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

// ruleOf parses a rule. If the text is invalid, the rule has its name all the same.
func ruleOf(t report.RuleText, name string) (Rule, error) {
	out := Rule{Name: name, Reason: t.Reason, Origin: t.Origin, Managers: t.Managers, Releases: t.Releases, Conflicts: t.Conflicts}
	if _, err := time.Parse(time.DateOnly, t.Expires); t.Expires != "" && err != nil {
		return out, fmt.Errorf("expires: %q is not a date such as 2027-01-31", t.Expires)
	}
	parse := ParsePattern
	if t.Literal {
		parse = ParsePointer
	}
	for _, path := range t.Paths {
		pattern, err := parse(path)
		if err != nil {
			return out, err
		}
		out.Paths = append(out.Paths, pattern)
	}
	var err error
	if t.Target != nil {
		out.Target, err = targetOf(*t.Target)
	}
	if err == nil && out.selectsEverything() {
		err = ErrSelectsEverything
	}
	return out, err
}

// targetOf parses a target. The error has all problems in it.
func targetOf(t report.TargetText) (Target, error) {
	var out Target
	var errs []error
	expression := func(text string) *regexp.Regexp {
		if text == "" {
			return nil
		}
		if _, err := regexp.Compile(text); err != nil {
			errs = append(errs, fmt.Errorf("target: %q is not a regular expression: %w", text, err))
			return nil
		}
		whole, err := regexp.Compile("^(?:" + text + ")$") // it must match a whole text
		errs = append(errs, err)
		return whole
	}
	selector := func(text string) labels.Selector {
		if text == "" {
			return nil
		}
		parsed, err := labels.Parse(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("target: %q is not a selector: %w", text, err))
		}
		return parsed
	}
	out.Group, out.Version, out.Kind = expression(t.Group), expression(t.Version), expression(t.Kind)
	out.Namespace, out.Name = expression(t.Namespace), expression(t.Name)
	out.Labels, out.Annotations = selector(t.LabelSelector), selector(t.AnnotationSelector)
	return out, errors.Join(errs...)
}

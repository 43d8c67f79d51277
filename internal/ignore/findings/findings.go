// Package findings applies ignore rules to a saved report, whose objects are not known any more: only their findings are.
//
//	[]ignore.Rule ─┐
//	report.Report ─┴─► Apply ─► the same report, with what the rules silence
//
// What a rule asks and a report cannot tell is an error, and never guessed. TestRulesOfSavedReports in pkg/threeway compares the result
// with that of a comparison that had the rules from the beginning.
package findings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Apply silences the findings of a saved report that the rules name, as a comparison with these rules would have done, and counts the
// summary again. A finding that was silenced when the report was made keeps its rule.
//
// A saved report has findings but no objects. If a rule depends on more than findings, such as the labels of an object, the error
// names the rule and the object, and the report is not usable.
func Apply(rules []ignore.Rule, r *report.Report) error {
	for i := range r.Releases {
		release := &r.Releases[i]
		held := object.Filter(rules, func(rule ignore.Rule) bool { return rule.IsFor(release.Name) })
		for j := range release.Objects {
			if err := applyToObject(held, &release.Objects[j]); err != nil {
				return fmt.Errorf("%s %s of release %s: %w", release.Objects[j].Kind, release.Objects[j].Name, release.Name, err)
			}
		}
	}
	r.Recount()
	return nil
}

// applyToObject silences what the rules name in one object.
func applyToObject(rules []ignore.Rule, o *report.Object) error {
	var held []ignore.Rule
	for _, rule := range rules {
		selected, err := selects(rule, o)
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
	if whole := ignore.RulesOf(held).Field(nil, nil, true); o.IgnoredBy == nil {
		o.IgnoredBy = whole
	}
	return checkConflicts(held, o)
}

// selects reports whether the rule's target selects an object of a saved report. Selectors of labels and annotations are an error if
// the rest of the rule selects the object.
func selects(r ignore.Rule, o *report.Object) (bool, error) {
	selectors := r.Target.Labels != nil || r.Target.Annotations != nil
	r.Target.Labels, r.Target.Annotations = nil, nil
	if !r.Selects(o.Ref(), nil) {
		return false, nil
	}
	if selectors {
		return false, lacks(r, "labels and annotations")
	}
	return true, nil
}

// lacks returns the error for something that the rule needs and a saved report lacks.
func lacks(r ignore.Rule, what string) error {
	return fmt.Errorf("%s cannot be applied to a saved report, which does not have the %s; helmdrift diff applies every rule", r.Name, what)
}

// applyToField silences a finding that a rule names.
func applyToField(rules []ignore.Rule, f *report.Finding) error {
	if f.IgnoredBy != nil {
		return nil
	}
	for _, r := range rules {
		switch covers(r, *f) {
		case yes:
			f.IgnoredBy = r.Named()
			return nil
		case unknown:
			return lacks(r, "list or the parts of "+f.Path)
		case no:
		}
	}
	return nil
}

// covers reports whether the rule silences a finding of a saved report. The answer is unknown if the rule names only a part of the
// finding, or names managers, since others may have written a part: a comparison would have reported such parts one by one.
func covers(r ignore.Rule, f report.Finding) answer {
	hasParts := !isOneValue(f)
	covered := coversPath(r, f, hasParts)
	switch {
	case !r.CoversOwners(f.Owners):
		return no
	case len(r.Managers) > 0 && hasParts:
		return min(covered, unknown)
	}
	return covered
}

// coversPath reports whether the rule has no paths, or one that covers the finding.
func coversPath(r ignore.Rule, f report.Finding, hasParts bool) answer {
	if len(r.Paths) == 0 {
		return yes
	}
	out := no
	for _, p := range r.Paths {
		out = max(out, patternCovers(p, f, hasParts))
	}
	return out
}

// isOneValue reports whether no side of the finding is a map or a list. A masked side may be one.
func isOneValue(f report.Finding) bool {
	hasParts := func(side any) bool { return side != nil && side != (object.Null{}) && !object.IsScalar(side) }
	return !f.Masked && !slices.ContainsFunc([]any{f.Old, f.Desired, f.Live, f.After}, hasParts)
}

// checkConflicts returns an error if a rule might silence the failure of the operation on the object: a saved report does not say
// whether there are other causes than conflicts.
func checkConflicts(rules []ignore.Rule, o *report.Object) error {
	i := slices.IndexFunc(rules, func(r ignore.Rule) bool { return r.Conflicts })
	if i < 0 || o.Action != report.ActionFail || o.IgnoredBy != nil {
		return nil
	}
	conflicts := object.Filter(o.Fields, func(f report.Finding) bool { return f.Verdict == report.Conflict })
	isShown := func(f report.Finding) bool { return f.IgnoredBy == nil }
	if len(conflicts) == 0 || slices.ContainsFunc(conflicts, isShown) {
		return nil
	}
	return lacks(rules[i], "other reasons why the operation fails")
}

// A saved report has the path of a finding as a pattern, and the pointer into live. The two together say nearly everything about the path.
// What they do not say is unknown, and never guessed.

// answer says whether a pattern matches, or that this is unknown.
type answer int

// These are the answers. The answer to several questions together is the least of theirs.
const (
	no answer = iota
	unknown
	yes
)

// answerOf returns a known answer.
func answerOf(matches bool) answer {
	if matches {
		return yes
	}
	return no
}

// unknownIf returns unknown, or no.
func unknownIf(isUnknown bool) answer {
	if isUnknown {
		return unknown
	}
	return no
}

// patternCovers reports whether a pattern covers a finding of a saved report. The answer is unknown if no pattern names the finding, or if
// the pattern may reach into a finding with parts.
func patternCovers(p ignore.Pattern, f report.Finding, hasParts bool) answer {
	path, err := ignore.ParsePattern(f.Pattern)
	switch {
	case len(p.Tokens) == 0:
		return yes
	case err != nil || f.Pattern == "" && f.Path != "":
		return unknown
	}
	live := liveTokens(f, path.Tokens)
	out := yes
	for i, t := range p.Tokens {
		if i == len(path.Tokens) {
			return min(out, unknownIf(hasParts))
		}
		out = min(out, matchesStep(t, path.Tokens[i], live[i]))
	}
	return out
}

// liveTokens returns the token of the pointer into live for each step of a path. A token is empty if it is not known which item of live's
// list the step leads to, or whether it is an item.
func liveTokens(f report.Finding, path []ignore.Token) []string {
	out, desired := pointerTokens(f.Pointer, len(path)), pointerTokens(f.DesiredPointer, len(path))
	for i := range out {
		if _, err := strconv.Atoi(desired[i]); err != nil && out[i] == "" {
			out[i] = desired[i] // live lacks the field, but what Helm would send shows that it is one
		}
	}
	if _, several := f.Live.([]any); len(path) > 0 && path[len(path)-1].Form == ignore.TokenKeys && (several || f.Masked) {
		out[len(path)-1] = "" // several items have these keys, and the pointer leads to the first
	}
	return out
}

// pointerTokens returns the n tokens of a pointer, which are empty if it has another number of tokens.
func pointerTokens(pointer string, n int) []string {
	if out := strings.Split(strings.TrimPrefix(pointer, "/"), "/"); len(out) == n {
		return out
	}
	return make([]string, n)
}

// matchesStep reports whether the token of a rule names a step of a finding's pattern. A number in the pattern may be an item without
// keys, an item whose keys are secret, a field or the member of a set.
func matchesStep(t, step ignore.Token, live string) answer {
	switch {
	case t.Form == ignore.TokenAny:
		return yes
	case t.Form == ignore.TokenIndex && live == "":
		return unknown
	case t.Form == ignore.TokenIndex:
		return answerOf(live == t.Name || step.Form == ignore.TokenIndex && step.Index == t.Index)
	case t.Form == ignore.TokenKeys && step.Form == ignore.TokenKeys:
		return matchesKeys(t, step)
	case step.Form == ignore.TokenIndex:
		return unknownIf(t.Form == ignore.TokenKeys || object.MatchName(t.Name, step.Name))
	case step.Form == ignore.TokenName && t.Form == ignore.TokenName:
		return answerOf(object.MatchName(t.Name, step.Name))
	}
	return unknownIf(step.Form == ignore.TokenAny) // the pattern of a field with the name *
}

// matchesKeys reports whether an item has the keys of the token. The pattern of a finding names an item by some of its fields; the
// others are unknown.
func matchesKeys(t, item ignore.Token) answer {
	out := yes
	for _, want := range t.Keys {
		n := slices.IndexFunc(item.Keys, func(has ignore.TokenKey) bool { return has.Name == want.Name })
		if n < 0 {
			out = min(out, unknown)
		} else {
			out = min(out, answerOf(want.Matches(item.Keys[n].Value)))
		}
	}
	return out
}

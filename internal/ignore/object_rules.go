package ignore

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// ignoreAnnotation is the annotation on an object, in a manifest or live, that silences what its value names: paths of ignore rules,
// separated by spaces or line breaks. "", "true" and "*" name the whole object.
const ignoreAnnotation = "helmdrift.io/ignore"

// fluxDriftDetection is Flux's name for the same, as a label or an annotation with the value "disabled"
// (fluxcd/helm-controller v1.6 internal/action/diff.go).
const fluxDriftDetection = "helm.toolkit.fluxcd.io/driftDetection"

// ObjectRules are the rules that hold for one object. The zero value has no rules.
type ObjectRules struct {
	rules []Rule
	// states are the normal forms of the object's sides, live first. List items of patterns are looked up in them.
	states []any
}

// ForObject returns the rules that hold for an object of a release, including the rules of its own annotations. Texts are the sides
// of the object. The remarks say what is wrong with the annotations.
func ForObject(rules []Rule, release string, ref object.Ref, texts ...map[string]any) (out ObjectRules, remarks []string) {
	var metas []map[string]any
	for _, text := range texts {
		if meta := object.Child(text, "metadata"); meta != nil {
			metas = append(metas, meta)
		}
	}
	for _, r := range rules {
		if r.IsFor(release) && r.Selects(ref, metas) {
			out.rules = append(out.rules, r)
		}
	}
	for _, meta := range metas {
		annotated, faults := annotationRules(meta)
		out.rules, remarks = append(out.rules, annotated...), append(remarks, faults...)
	}
	return out, slices.Compact(remarks) // the same text on each side is one remark
}

// RulesOf returns the rules of an object whose texts are not known. The caller has found that they hold for it.
func RulesOf(rules []Rule) ObjectRules { return ObjectRules{rules: rules} }

// WithStates returns the same rules with the normal forms of the object, live first. List items of patterns are looked up in them.
func (o ObjectRules) WithStates(states ...any) ObjectRules {
	return ObjectRules{rules: o.rules, states: states}
}

// annotationRules returns the rules of an object's annotations and labels.
func annotationRules(meta map[string]any) (out []Rule, remarks []string) {
	if value, ok := object.Child(meta, "annotations")[ignoreAnnotation].(string); ok && value != "false" {
		namesWhole := func(word string) bool { return word == "true" || word == "*" }
		paths := slices.DeleteFunc(strings.Fields(value), namesWhole)
		rule, err := ruleOf(report.RuleText{Paths: paths}, "annotation "+ignoreAnnotation)
		// An annotation may select everything, because it holds for one object.
		if err != nil && !errors.Is(err, ErrSelectsEverything) {
			return nil, []string{fmt.Sprintf("its annotation %s has no effect: %v", ignoreAnnotation, err)}
		}
		out = append(out, rule)
	}
	for _, kind := range []string{"annotation", "label"} {
		if object.Child(meta, kind+"s")[fluxDriftDetection] == "disabled" {
			out = append(out, Rule{Name: kind + " " + fluxDriftDetection, Origin: report.ControllerFlux})
		}
	}
	return out, nil
}

// Field returns the rule that silences a finding, or nil if none does.
func (o ObjectRules) Field(path object.Path, writers []report.Owner, managed bool) *report.IgnoreRule {
	for _, r := range o.rules {
		if r.gone == nil && !(r.unmanaged && managed) && !r.sparesPersons(writers) && r.CoversOwners(writers) && r.coversPath(path, o.states) {
			return r.Named()
		}
	}
	return nil
}

// sparesPersons reports whether the rule is built in, names no managers, and a person wrote the value. Such a manual edit is reported,
// unless a rule names the manager.
func (r Rule) sparesPersons(writers []report.Owner) bool {
	isPerson := func(o report.Owner) bool { return o.Group == report.ManagerPerson }
	return r.BuiltIn && len(r.Managers) == 0 && slices.ContainsFunc(writers, isPerson)
}

// Object returns the rule that silences what a report says about the object as a whole: its action, and that it is missing or being
// deleted. It returns nil if there is none. Gone says whether the object is missing.
func (o ObjectRules) Object(gone bool, old map[string]any) *report.IgnoreRule {
	for _, r := range o.rules {
		if r.gone != nil && gone && r.gone.exists(old) {
			return r.Named()
		}
	}
	return o.Field(nil, nil, true)
}

// Conflicts returns the rule that silences a failure caused only by conflicts, or nil if there is none. The rule holds only if rules
// silence each of the conflicts.
func (o ObjectRules) Conflicts() *report.IgnoreRule {
	if n := slices.IndexFunc(o.rules, func(r Rule) bool { return r.Conflicts }); n >= 0 {
		return o.rules[n].Named()
	}
	return nil
}

// FieldByParts returns the first of the rules that together silence every difference in a value that is compared as a whole, or nil if
// some difference is left. Same reports whether the sides are the same once strip has removed from each what the rules name.
func (o ObjectRules) FieldByParts(path object.Path, managed bool, same func(strip func(any) any) bool) *report.IgnoreRule {
	var first *report.IgnoreRule
	var parts [][]Token
	for _, r := range o.rules {
		if r.gone != nil || r.unmanaged && managed || len(r.Managers) > 0 {
			continue
		}
		for _, p := range r.Paths {
			if p.reachesInto(path, o.states) {
				parts = append(parts, p.Tokens[len(path):])
				first = cmp.Or(first, r.Named())
			}
		}
	}
	strip := func(v any) any {
		for _, tokens := range parts {
			v = without(v, tokens)
		}
		return v
	}
	if first == nil || !same(strip) {
		return nil
	}
	return first
}

// DifferingPart returns a rule that names a differing part of a and b, the values at path, or nil if there is none.
func (o ObjectRules) DifferingPart(path object.Path, a, b any) *report.IgnoreRule {
	for _, r := range o.rules {
		for _, p := range r.Paths {
			if !p.reachesInto(path, o.states) {
				continue
			}
			if rest := p.Tokens[len(path):]; !object.EqualLists(findAll(a, rest), findAll(b, rest)) {
				return r.Named()
			}
		}
	}
	return nil
}

// Subject is a compared object, with everything that a rule may match.
type Subject struct {
	Ref   object.Ref
	Shape *kinds.Shape
	// Metas are the metadata of its sides.
	Metas []map[string]any
	// Live is the object as it was read. Texts are the texts and normal forms of all sides.
	Live  map[string]any
	Texts []map[string]any
	// States are its normal forms, live first, and Findings are the paths of its findings. They may belong to an API version that
	// Shape does not describe.
	States   []any
	Findings []object.Path
}

// IdleWarnings returns a warning for each rule that matches nothing in a release, or that names a path that its objects cannot have. Such a
// rule may be misspelt, or no longer needed.
func IdleWarnings(rules []Rule, release string, subjects []Subject) []report.Message {
	var out []report.Message
	for _, r := range rules {
		if r.BuiltIn || !r.IsFor(release) {
			continue
		}
		for _, text := range r.idle(release, subjects) {
			out = append(out, report.Message{Code: WarningCode, Message: r.Name + " " + text})
		}
	}
	return out
}

// idle returns the parts of a rule that match nothing.
func (r Rule) idle(release string, subjects []Subject) (out []string) {
	selected := object.Filter(subjects, func(s Subject) bool { return r.Selects(s.Ref, s.Metas) })
	if len(selected) == 0 {
		return []string{"matches no object of " + release + "; if it is for other releases, name them under releases"}
	}
	for _, p := range r.Paths {
		switch {
		case slices.ContainsFunc(selected, p.isIn):
		case !slices.ContainsFunc(selected, func(s Subject) bool { return p.fits(s.Shape) }):
			out = append(out, fmt.Sprintf("names a path that %s cannot have: %s", kindsOf(selected), p))
		default:
			out = append(out, fmt.Sprintf("matches nothing: no %s has %s", kindsOf(selected), p))
		}
	}
	if len(r.Paths) == 0 && len(r.Managers) > 0 && !slices.ContainsFunc(selected, r.ownsAny) {
		out = append(out, "matches nothing: "+strings.Join(r.Managers, ", ")+" wrote nothing there")
	}
	return out
}

// isIn reports whether an object, or a finding of it, has a place that the pattern names.
func (p Pattern) isIn(s Subject) bool {
	return slices.ContainsFunc(s.Texts, func(text map[string]any) bool { return p.exists(text) }) ||
		slices.ContainsFunc(s.Findings, func(path object.Path) bool { return p.covers(path, s.States) })
}

// ownsAny reports whether the managers that the rule names own anything of an object.
func (r Rule) ownsAny(s Subject) bool {
	return slices.ContainsFunc(owners.Entries(s.Live, nil), func(e owners.Entry) bool { return r.CoversOwners([]report.Owner{e.Owner}) })
}

// kindsOf returns the kinds of objects, for people.
func kindsOf(subjects []Subject) string {
	names := map[string]bool{}
	for _, s := range subjects {
		names[s.Ref.Kind] = true
	}
	return strings.Join(object.SortedKeys(names), ", ")
}

package ignore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// ignoreAnnotation is the annotation on an object, in a manifest or live, that silences what its value names: paths of ignore rules,
// separated by spaces or line breaks, or the whole object if it names none ("", "true", "*").
const ignoreAnnotation = "helmdrift.io/ignore"

// fluxDriftDetection is the name under which Flux has the same, as a label or an annotation with the value "disabled"
// (fluxcd/helm-controller v1.6 internal/action/diff.go).
const fluxDriftDetection = "helm.toolkit.fluxcd.io/driftDetection"

// ObjectRules are the rules that hold for one object. A nil ObjectRules has no rules.
type ObjectRules struct {
	rules []Rule
	// states are the normal forms of the object's sides, live first. List items of patterns are looked up in them.
	states []any
}

// ForObject returns the rules that hold for an object of a release, those of its own annotations included. Texts are the sides of the
// object. The remarks say what is wrong with the annotations.
func ForObject(rules []Rule, release string, ref object.Ref, texts ...map[string]any) (out *ObjectRules, remarks []string) {
	var metas []map[string]any
	for _, text := range texts {
		if meta := object.Child(text, "metadata"); meta != nil {
			metas = append(metas, meta)
		}
	}
	out = &ObjectRules{}
	for _, r := range rules {
		if r.isFor(release) && r.selects(ref, metas) {
			out.rules = append(out.rules, r)
		}
	}
	for _, meta := range metas {
		remarks = append(remarks, out.annotate(meta)...)
	}
	return out, slices.Compact(remarks) // the same text on each side is one remark
}

// WithStates returns the same rules with the normal forms in which list items of patterns are looked up, live first.
func (o *ObjectRules) WithStates(states ...any) *ObjectRules {
	return &ObjectRules{rules: o.rules, states: states}
}

// annotate adds the rules of an object's annotations.
func (o *ObjectRules) annotate(meta map[string]any) (remarks []string) {
	if value, ok := object.Child(meta, "annotations")[ignoreAnnotation].(string); ok && value != "false" {
		rule, err := annotationRule(value)
		if err != nil {
			return []string{fmt.Sprintf("its annotation %s has no effect: %v", ignoreAnnotation, err)}
		}
		o.rules = append(o.rules, rule)
	}
	for _, kind := range []string{"annotation", "label"} {
		if object.Child(meta, kind+"s")[fluxDriftDetection] == "disabled" {
			o.rules = append(o.rules, Rule{Name: kind + " " + fluxDriftDetection})
		}
	}
	return nil
}

// annotationRule returns the rule that the value of the ignoreAnnotation is.
func annotationRule(value string) (Rule, error) {
	rule := Rule{Name: "annotation " + ignoreAnnotation}
	for _, word := range strings.Fields(value) {
		if word == "true" || word == "*" {
			continue
		}
		pattern, err := ParsePattern(word)
		if err != nil {
			return rule, err
		}
		rule.Paths = append(rule.Paths, pattern)
	}
	return rule, nil
}

// Field returns the rule that silences a finding; nil if none does.
func (o *ObjectRules) Field(path object.Path, writers []report.Owner, managed bool) *report.IgnoreRule {
	if o == nil {
		return nil
	}
	for _, r := range o.rules {
		if r.gone == nil && !(r.unmanaged && managed) && !r.sparesPersons(writers) && r.coversOwners(writers) && r.coversPath(path, o.states) {
			return r.named()
		}
	}
	return nil
}

// sparesPersons reports whether the rule is built in, names no managers, and a person wrote the value: a manual edit is reported unless a
// rule names the manager.
func (r Rule) sparesPersons(writers []report.Owner) bool {
	isPerson := func(o report.Owner) bool { return o.Group == report.ManagerPerson }
	return r.BuiltIn && len(r.Managers) == 0 && slices.ContainsFunc(writers, isPerson)
}

// Object returns the rule that silences what is said of the object as a whole: its action, and that it is missing or being deleted; nil if
// there is none. Gone reports whether the object is missing.
func (o *ObjectRules) Object(gone bool, old map[string]any) *report.IgnoreRule {
	for _, r := range o.rules {
		if r.gone != nil && gone && r.gone.exists(old) {
			return r.named()
		}
	}
	return o.Field(nil, nil, true)
}

// Conflicts returns the rule that silences a failure on nothing but conflicts; nil if there is none. It holds only as long as rules silence
// each of the conflicts.
func (o *ObjectRules) Conflicts() *report.IgnoreRule {
	if n := slices.IndexFunc(o.rules, func(r Rule) bool { return r.Conflicts }); n >= 0 {
		return o.rules[n].named()
	}
	return nil
}

// FieldByParts returns the first of the rules that together silence everything that differs in a value that is compared as a whole; nil if
// something else differs in it, too. Same reports whether the sides are the same once strip has removed from each what the rules name.
func (o *ObjectRules) FieldByParts(path object.Path, managed bool, same func(strip func(any) any) bool) *report.IgnoreRule {
	if o == nil {
		return nil
	}
	var first *report.IgnoreRule
	var parts [][]token
	for _, r := range o.rules {
		if r.gone != nil || r.unmanaged && managed || len(r.Managers) > 0 {
			continue
		}
		for _, p := range r.Paths {
			if p.reachesInto(path, o.states) {
				parts = append(parts, p.tokens[len(path):])
				if first == nil {
					first = r.named()
				}
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

// DifferingPart returns a rule that names a part of the value at path in which a and b differ; nil if there is none.
func (o *ObjectRules) DifferingPart(path object.Path, a, b any) *report.IgnoreRule {
	for _, r := range o.rules {
		for _, p := range r.Paths {
			if !p.reachesInto(path, o.states) {
				continue
			}
			if rest := p.tokens[len(path):]; !object.EqualLists(findAll(a, rest), findAll(b, rest)) {
				return r.named()
			}
		}
	}
	return nil
}

package ignore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// IgnoreAnnotation on an object, in a manifest or live, silences what its value names: paths of ignore rules, apart by spaces or line
// breaks, or the whole object where it names none ("", "true", "*").
const IgnoreAnnotation = "helmdrift.io/ignore"

// fluxDriftDetection is Flux's own word for the same, as a label or an annotation, with the value "disabled"
// (fluxcd/helm-controller v1.6 internal/action/diff.go).
const fluxDriftDetection = "helm.toolkit.fluxcd.io/driftDetection"

// ObjectRules are the rules that hold for one object.
type ObjectRules struct {
	rules []Rule
	// states are the object's sides, live first; list items of patterns are looked up in them.
	states []any
}

// ForObject picks the rules that hold for an object of a release, and adds those of its own annotations. Texts are the sides that there
// are. The remarks say what is wrong with the annotations.
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

// In returns the same rules with the normal forms in which list items of patterns are looked up, live first.
func (o *ObjectRules) In(states ...any) *ObjectRules {
	return &ObjectRules{rules: o.rules, states: states}
}

// annotate adds the rules that an object's annotations make.
func (o *ObjectRules) annotate(meta map[string]any) (remarks []string) {
	if value, ok := object.Child(meta, "annotations")[IgnoreAnnotation].(string); ok && value != "false" {
		rule, err := annotatedRule(value)
		if err != nil {
			return []string{fmt.Sprintf("its annotation %s is not heeded: %v", IgnoreAnnotation, err)}
		}
		o.rules = append(o.rules, rule)
	}
	for _, kind := range []string{"annotations", "labels"} {
		if object.Child(meta, kind)[fluxDriftDetection] == "disabled" {
			o.rules = append(o.rules, Rule{Name: strings.TrimSuffix(kind, "s") + " " + fluxDriftDetection})
		}
	}
	return nil
}

func annotatedRule(value string) (Rule, error) {
	rule := Rule{Name: "annotation " + IgnoreAnnotation}
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
		if r.gone == nil && !(r.unmanaged && managed) && !r.spares(writers) && r.coversOwners(writers) && r.coversPath(path, o.states) {
			return r.shown()
		}
	}
	return nil
}

// spares tells whether a rule is this program's own, for writers that nobody knows, and a person has written the value: what somebody did by
// hand is told, unless a rule names the manager.
func (r Rule) spares(owners []report.Owner) bool {
	return r.BuiltIn && len(r.Managers) == 0 && slices.ContainsFunc(owners, func(o report.Owner) bool { return o.Group == report.ManagerPerson })
}

// Object returns the rule that silences all that is said of the object itself: what becomes of it, and that it is missing or being deleted.
func (o *ObjectRules) Object(gone bool, old map[string]any) *report.IgnoreRule {
	for _, r := range o.rules {
		if r.gone != nil && gone && r.gone.exists(old) {
			return r.shown()
		}
	}
	return o.Field(nil, nil, true)
}

// Conflicts returns the rule that silences a failure on conflicts alone; nil if there is none. It holds as long as rules silence each of
// the conflicts.
func (o *ObjectRules) Conflicts() *report.IgnoreRule {
	if n := slices.IndexFunc(o.rules, func(r Rule) bool { return r.Conflicts }); n >= 0 {
		return o.rules[n].shown()
	}
	return nil
}

// Inside returns a rule that silences, together with the others, all that differs inside of what is one value; nil if there is none. Same
// reports whether the sides are the same after strip has taken out of each the places that rules name.
func (o *ObjectRules) Inside(path object.Path, managed bool, same func(strip func(any) any) bool) *report.IgnoreRule {
	if o == nil {
		return nil
	}
	var first *report.IgnoreRule
	var places [][]token
	for _, r := range o.rules {
		if r.gone != nil || r.unmanaged && managed || len(r.Managers) > 0 {
			continue
		}
		for _, p := range r.Paths {
			if p.reachesInto(path, o.states) {
				places = append(places, p.tokens[len(path):])
				if first == nil {
					first = r.shown()
				}
			}
		}
	}
	strip := func(v any) any {
		for _, tokens := range places {
			v = removed(v, tokens)
		}
		return v
	}
	if first == nil || !same(strip) {
		return nil
	}
	return first
}

// Below returns a rule that names a place below a path in which two values of that path differ; nil if there is none.
func (o *ObjectRules) Below(path object.Path, a, b any) *report.IgnoreRule {
	for _, r := range o.rules {
		for _, p := range r.Paths {
			if !p.reachesInto(path, o.states) {
				continue
			}
			if rest := p.tokens[len(path):]; !object.EqualLists(allBelow(a, rest), allBelow(b, rest)) {
				return r.shown()
			}
		}
	}
	return nil
}

// removed gives a copy of a value without what tokens name. Of a list something else stands in the place of an item, so that the others
// keep theirs.
func removed(v any, tokens []token) any {
	if len(tokens) == 0 {
		return nil
	}
	t, rest := tokens[0], tokens[1:]
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, below := range v {
			if !t.namesField(name) {
				out[name] = below
			} else if len(rest) > 0 {
				out[name] = removed(below, rest)
			}
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i, item := range v {
			if t.namesItem(i, item) {
				out[i] = removed(item, rest)
			}
		}
		return out
	}
	return v
}

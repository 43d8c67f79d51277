package threeway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// IgnoreAnnotation on an object, in a manifest or live, silences what its value names: paths of ignore rules, apart by spaces or line
// breaks, or the whole object where it names none ("", "true", "*").
const IgnoreAnnotation = "helmdrift.io/ignore"

// fluxDriftDetection is Flux's own word for the same, as a label or an annotation, with the value "disabled"
// (fluxcd/helm-controller v1.6 internal/action/diff.go).
const fluxDriftDetection = "helm.toolkit.fluxcd.io/driftDetection"

// ignorer knows the rules that hold for one object.
type ignorer struct {
	rules []Rule
	// roots are the object's sides, live first; list items of patterns are looked up in them.
	roots []any
}

// ignorerOf picks the rules for an object, of which texts are the sides that there are, and adds those of its own annotations. What is
// wrong with these the remarks say.
func (c comparer) ignorerOf(ref object.Ref, texts ...map[string]any) (out *ignorer, remarks []string) {
	var metas []map[string]any
	for _, text := range texts {
		if meta := object.Child(text, "metadata"); meta != nil {
			metas = append(metas, meta)
		}
	}
	out = &ignorer{}
	for _, r := range c.in.Rules {
		if r.isFor(c.in.Name) && r.selects(ref, metas) {
			out.rules = append(out.rules, r)
		}
	}
	for _, meta := range metas {
		remarks = append(remarks, out.annotate(meta)...)
	}
	return out, slices.Compact(remarks) // the same text on each side is one remark
}

// annotate adds the rules that an object's annotations make.
func (i *ignorer) annotate(meta map[string]any) (remarks []string) {
	if value, ok := object.Child(meta, "annotations")[IgnoreAnnotation].(string); ok && value != "false" {
		rule, err := annotatedRule(value)
		if err != nil {
			return []string{fmt.Sprintf("its annotation %s is not heeded: %v", IgnoreAnnotation, err)}
		}
		i.rules = append(i.rules, rule)
	}
	for _, kind := range []string{"annotations", "labels"} {
		if object.Child(meta, kind)[fluxDriftDetection] == "disabled" {
			i.rules = append(i.rules, Rule{Name: strings.TrimSuffix(kind, "s") + " " + fluxDriftDetection})
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

// by gives the rule that silences a finding, nil where none does.
func (i *ignorer) by(path object.Path, owners []report.Owner, managed bool) *report.IgnoreRule {
	if i == nil {
		return nil
	}
	for _, r := range i.rules {
		if r.gone == nil && !(r.unmanaged && managed) && !r.spares(owners) && r.coversOwners(owners) && r.coversPath(path, i.roots) {
			return r.shown()
		}
	}
	return nil
}

// spares tells whether a rule is this program's own, for writers that nobody knows, and a person has written the value: what somebody did by
// hand is told, unless a rule names the manager.
func (r Rule) spares(owners []report.Owner) bool {
	return r.builtIn && len(r.Managers) == 0 && slices.ContainsFunc(owners, func(o report.Owner) bool { return o.Group == report.ManagerPerson })
}

// whole returns the rule that silences all that is said of the object itself: what becomes of it, and that it is missing or being deleted.
func (i *ignorer) whole(gone bool, old map[string]any) *report.IgnoreRule {
	for _, r := range i.rules {
		if r.gone != nil && gone && r.gone.exists(old) {
			return r.shown()
		}
	}
	return i.by(nil, nil, true)
}

// conflicts returns the rule that silences a failure on conflicts: it says so, and rules silence each of them.
func (i *ignorer) conflicts(findings []Finding) *report.IgnoreRule {
	n := slices.IndexFunc(i.rules, func(r Rule) bool { return r.Conflicts })
	counts := func(f Finding) bool { return f.Verdict == report.Conflict && f.IgnoredBy == nil }
	if n < 0 || slices.ContainsFunc(findings, counts) {
		return nil
	}
	return i.rules[n].shown()
}

// inside gives a rule that silences, with the others, all that differs inside of what is one value: with the places left out that rules
// name, the sides that differ are the same.
func (i *ignorer) inside(path object.Path, n sides, managed bool) *report.IgnoreRule {
	if i == nil {
		return nil
	}
	var first *report.IgnoreRule
	left := n
	for _, r := range i.rules {
		if r.gone != nil || r.unmanaged && managed || len(r.Managers) > 0 {
			continue
		}
		for _, p := range r.Paths {
			if p.reachesInto(path, i.roots) {
				left = left.without(p.tokens[len(path):])
				if first == nil {
					first = r.shown()
				}
			}
		}
	}
	if first == nil || !left.converged() || !left.old.Same(left.live) {
		return nil
	}
	return first
}

// without gives the sides without what tokens name below.
func (n sides) without(tokens []token) sides {
	return n.each(func(s kinds.State) kinds.State {
		s.Value = removed(s.Value, tokens)
		return s
	})
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

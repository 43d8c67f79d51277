package threeway

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"
)

// IgnoreAnnotation on an object, in a manifest or live, silences what its value names: paths of ignore rules, apart by spaces or line
// breaks, or the whole object where it names none ("", "true", "*").
const IgnoreAnnotation = "helmdrift.io/ignore"

// fluxDriftDetection is Flux's own word for the same, as a label or an annotation, with the value "disabled"
// (fluxcd/helm-controller v1.6 internal/action/diff.go).
const fluxDriftDetection = "helm.toolkit.fluxcd.io/driftDetection"

// builtInRule is a line of ignores.yaml.
type builtInRule struct {
	Name string `json:"name"`
	RuleText
	Unmanaged bool   `json:"unmanaged,omitempty"`
	Gone      string `json:"gone,omitempty"`
}

//go:embed ignores.yaml
var ignoresText []byte

// BuiltInRules are this program's own rules; ignores.yaml has them, each with its reason.
var BuiltInRules = sync.OnceValue(func() []Rule {
	var texts []builtInRule
	must(yaml.UnmarshalStrict(ignoresText, &texts))
	out := make([]Rule, len(texts))
	for i, text := range texts {
		rule, err := text.rule("built-in " + text.Name)
		must(err)
		rule.builtIn, rule.unmanaged = true, text.Unmanaged
		if text.Gone != "" {
			gone, err := ParsePattern(text.Gone)
			must(err)
			rule.gone = &gone
		}
		out[i] = rule
	}
	return out
})

// ignorer knows the rules that hold for one object.
type ignorer struct {
	rules []Rule
	// roots are the object's sides, live first; list items of patterns are looked up in them.
	roots []any
}

// ignorerOf picks the rules for an object, of which texts are the sides that there are, and adds those of its own annotations. What is
// wrong with these is a remark on the object.
func (c comparer) ignorerOf(ref Ref, texts ...map[string]any) (out *ignorer, remarks []string) {
	var metas []map[string]any
	for _, text := range texts {
		if meta := child(text, "metadata"); meta != nil {
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
	return out, remarks
}

// annotate adds the rules that an object's annotations make.
func (i *ignorer) annotate(meta map[string]any) (remarks []string) {
	if value, ok := child(meta, "annotations")[IgnoreAnnotation].(string); ok {
		rule := Rule{Name: "annotation " + IgnoreAnnotation}
		for _, word := range strings.Fields(value) {
			if word == "true" || word == "*" {
				continue
			}
			pattern, err := ParsePattern(word)
			if err != nil {
				return append(remarks, fmt.Sprintf("its annotation %s is not heeded: %v", IgnoreAnnotation, err))
			}
			rule.Paths = append(rule.Paths, pattern)
		}
		if value != "false" {
			i.rules = append(i.rules, rule)
		}
	}
	for _, kind := range []string{"annotations", "labels"} {
		if child(meta, kind)[fluxDriftDetection] == "disabled" {
			i.rules = append(i.rules, Rule{Name: strings.TrimSuffix(kind, "s") + " " + fluxDriftDetection})
		}
	}
	return remarks
}

// by gives the rule that silences a finding, nil where none does.
func (i *ignorer) by(path Path, owners []Owner, managed bool) *IgnoreRule {
	if i == nil {
		return nil
	}
	for _, r := range i.rules {
		if r.gone == nil && !(r.unmanaged && managed) && r.coversOwners(owners) && r.coversPath(path, i.roots) {
			return r.shown()
		}
	}
	return nil
}

// whole gives the rule that silences all that is said of the object itself: what becomes of it, and that it is missing.
func (i *ignorer) whole(missing bool, old map[string]any) *IgnoreRule {
	for _, r := range i.rules {
		if r.gone != nil && missing && r.gone.exists(old) {
			return r.shown()
		}
	}
	return i.by(nil, nil, true)
}

// inside gives the rule that silences all that differs inside of what is one value: with the places it names left out, the sides that
// differ are the same.
func (i *ignorer) inside(path Path, n sides, managed bool) *IgnoreRule {
	if i == nil {
		return nil
	}
	for _, r := range i.rules {
		if r.gone != nil || r.unmanaged && managed || len(r.Managers) > 0 {
			continue
		}
		left, reached := n, false
		for _, p := range r.Paths {
			if p.reachesInto(path, i.roots) {
				left, reached = left.without(p.tokens[len(path):]), true
			}
		}
		if reached && left.converged() && left.old.same(left.live) {
			return r.shown()
		}
	}
	return nil
}

// without gives the sides without what tokens name below.
func (n sides) without(tokens []token) sides {
	return n.each(func(s side) side {
		s.value = removed(s.value, tokens)
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

// leftAlone folds what controllers wrote and no upgrade touches into a number.
func (o *ObjectComparison) leftAlone() {
	kept := o.Findings[:0]
	for _, f := range o.Findings {
		if f.IgnoredBy == nil && !f.Managed && f.Verdict == Ignore && f.Class == "" && f.Certain && areControllers(f.Owners) {
			o.Controllers++
			continue
		}
		kept = append(kept, f)
	}
	o.Findings = kept
}

// areControllers tells whether nobody but controllers wrote a value, and the release itself.
func areControllers(owners []Owner) bool {
	return slices.ContainsFunc(owners, func(o Owner) bool { return o.Group == ManagerController }) &&
		!slices.ContainsFunc(owners, func(o Owner) bool { return o.Group != ManagerController && o.Group != ManagerDeployer })
}

// warnOfRules tells of rules that say what cannot be, or that match nothing: one of those may be misspelt, or no longer needed.
func (c *Comparison) warnOfRules() {
	var warnings []Message
	for _, r := range c.Input.Rules {
		if r.builtIn || !r.isFor(c.Input.Name) {
			continue
		}
		for _, message := range c.useOf(r) {
			warnings = append(warnings, Message{Code: WarnIgnoreRule, Message: r.Name + " " + message})
		}
	}
	c.Input.Warnings = append(c.Input.Warnings[:len(c.Input.Warnings):len(c.Input.Warnings)], warnings...)
}

// useOf says what is odd about the use of a rule.
func (c *Comparison) useOf(r Rule) (odd []string) {
	job := comparer{in: c.Input, catalog: nativeKinds()}
	var selected []*ObjectComparison
	for i := range c.Objects {
		o := &c.Objects[i]
		texts := []map[string]any{child(o.liveText, "metadata"), child(o.Content, "metadata"), child(o.desiredText, "metadata")}
		if r.selects(o.Ref, texts) {
			selected = append(selected, o)
		}
	}
	if len(selected) == 0 {
		return []string{"matches no object of " + c.Input.Name + "; if it is for others, name them under releases"}
	}
	for _, p := range r.Paths {
		possible, there := false, false
		for _, o := range selected {
			possible = possible || p.fits(job.shapeOf(o.Ref))
			for _, side := range []map[string]any{o.liveText, o.Live, o.Old, o.Desired, o.Content} {
				there = there || p.exists(side)
			}
			roots := []any{o.Live, o.Old, o.Desired} // of a finding at another version, no shape here may know
			there = there || slices.ContainsFunc(o.Findings, func(f Finding) bool { return p.covers(f.Path, roots) })
		}
		switch {
		case there:
		case !possible:
			odd = append(odd, fmt.Sprintf("names a place that cannot be: %s of %s", p, kindsOf(selected)))
		default:
			odd = append(odd, fmt.Sprintf("matches nothing: no %s has %s", kindsOf(selected), p))
		}
	}
	if len(r.Paths) == 0 && len(r.Managers) > 0 && !slices.ContainsFunc(selected, func(o *ObjectComparison) bool { return o.isOwnedByAny(r) }) {
		odd = append(odd, "matches nothing: "+strings.Join(r.Managers, ", ")+" wrote nothing there")
	}
	return odd
}

func (o *ObjectComparison) isOwnedByAny(r Rule) bool {
	return slices.ContainsFunc(ownershipOf(o.liveText, nil).entries, func(e ownerEntry) bool { return r.coversOwners([]Owner{e.Owner}) })
}

// kindsOf names the kinds of objects, for people.
func kindsOf(objects []*ObjectComparison) string {
	kinds := map[string]bool{}
	for _, o := range objects {
		kinds[o.Kind] = true
	}
	return strings.Join(sortedKeys(kinds), ", ")
}

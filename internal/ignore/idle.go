package ignore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Subject is a compared object, with all in which a rule may match something.
type Subject struct {
	Ref   object.Ref
	Shape *kinds.Shape
	// Metas are the metadata of its sides.
	Metas []map[string]any
	// Live is the object as it was read. Texts are the texts and normal forms of all sides.
	Live  map[string]any
	Texts []map[string]any
	// States are its normal forms, live first, and Findings the paths of its findings. They may be of a version of the API that Shape
	// does not describe.
	States   []any
	Findings []object.Path
}

// IdleWarnings returns a warning for each rule that matches nothing in a release, or that names a path that its objects cannot have. Such a
// rule may be misspelt, or no longer needed.
func IdleWarnings(rules []Rule, release string, subjects []Subject) []report.Message {
	var out []report.Message
	for _, r := range rules {
		if r.BuiltIn || !r.isFor(release) {
			continue
		}
		for _, text := range r.idle(release, subjects) {
			out = append(out, report.Message{Code: WarningCode, Message: r.Name + " " + text})
		}
	}
	return out
}

// idle returns what of a rule matches nothing.
func (r Rule) idle(release string, subjects []Subject) (out []string) {
	selected := object.Filter(subjects, func(s Subject) bool { return r.selects(s.Ref, s.Metas) })
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
	return slices.ContainsFunc(owners.Entries(s.Live, nil), func(e owners.Entry) bool { return r.coversOwners([]report.Owner{e.Owner}) })
}

// kindsOf returns the kinds of objects, for people.
func kindsOf(subjects []Subject) string {
	names := map[string]bool{}
	for _, s := range subjects {
		names[s.Ref.Kind] = true
	}
	return strings.Join(object.SortedKeys(names), ", ")
}

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

// Subject is a compared object as the use of rules is judged by it.
type Subject struct {
	Ref   object.Ref
	Shape *kinds.Shape
	// Metas are its metadata as the sides have it.
	Metas []map[string]any
	// Live is the object as it was read. Texts are all forms of the object in which a rule may find its place.
	Live  map[string]any
	Texts []map[string]any
	// States are its normal forms, live first, and Findings the paths of what was found. At a version that is not read any more, no shape
	// knows them.
	States   []any
	Findings []object.Path
}

// Idle returns a warning for each rule that names what cannot be, or that matches nothing in a release: it may be misspelt, or no longer
// needed.
func Idle(rules []Rule, release string, subjects []Subject) []report.Message {
	var out []report.Message
	for _, r := range rules {
		if r.BuiltIn || !r.isFor(release) {
			continue
		}
		for _, text := range r.idle(release, subjects) {
			out = append(out, report.Message{Code: WarnIgnoreRule, Message: r.Name + " " + text})
		}
	}
	return out
}

// idle says in what respect a rule matches nothing.
func (r Rule) idle(release string, subjects []Subject) (out []string) {
	var selected []Subject
	for _, s := range subjects {
		if r.selects(s.Ref, s.Metas) {
			selected = append(selected, s)
		}
	}
	if len(selected) == 0 {
		return []string{"matches no object of " + release + "; if it is for others, name them under releases"}
	}
	for _, p := range r.Paths {
		switch {
		case slices.ContainsFunc(selected, p.isIn):
		case !slices.ContainsFunc(selected, func(s Subject) bool { return p.fits(s.Shape) }):
			out = append(out, fmt.Sprintf("names a place that cannot be: %s of %s", p, kindsOf(selected)))
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

// ownsAny reports whether the managers that a rule names own anything of an object.
func (r Rule) ownsAny(s Subject) bool {
	return slices.ContainsFunc(owners.Entries(s.Live, nil), func(e owners.Entry) bool { return r.coversOwners([]report.Owner{e.Owner}) })
}

// kindsOf names the kinds of objects, for people.
func kindsOf(subjects []Subject) string {
	names := map[string]bool{}
	for _, s := range subjects {
		names[s.Ref.Kind] = true
	}
	return strings.Join(object.SortedKeys(names), ", ")
}

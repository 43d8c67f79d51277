package threeway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// warnOfRules tells of rules that say what cannot be, or that match nothing: one of those may be misspelt, or no longer needed.
func (c *Comparison) warnOfRules() {
	var warnings []report.Message
	for _, r := range c.Input.Rules {
		if r.builtIn || !r.isFor(c.Input.Name) {
			continue
		}
		for _, message := range c.useOf(r) {
			warnings = append(warnings, report.Message{Code: WarnIgnoreRule, Message: r.Name + " " + message})
		}
	}
	for _, o := range c.Objects {
		for _, remark := range o.remarks {
			warnings = append(warnings, report.Message{Code: WarnIgnoreRule, Object: o.key.String(), Message: remark})
		}
	}
	c.Input.Warnings = append(c.Input.Warnings[:len(c.Input.Warnings):len(c.Input.Warnings)], warnings...)
}

// useOf says what is odd about the use of a rule.
func (c *Comparison) useOf(r Rule) (odd []string) {
	job := c.comparer()
	var selected []*ObjectComparison
	for i := range c.Objects {
		o := &c.Objects[i]
		texts := []map[string]any{object.Child(o.liveText, "metadata"), object.Child(o.Content, "metadata"), object.Child(o.desiredText, "metadata")}
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
	return slices.ContainsFunc(owners.Entries(o.liveText, nil), func(e owners.Entry) bool { return r.coversOwners([]report.Owner{e.Owner}) })
}

// kindsOf names the kinds of objects, for people.
func kindsOf(objects []*ObjectComparison) string {
	kinds := map[string]bool{}
	for _, o := range objects {
		kinds[o.Kind] = true
	}
	return strings.Join(object.SortedKeys(kinds), ", ")
}

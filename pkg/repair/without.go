package repair

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Without plans again, with the options of p, without what some selectors name. Whoever agreed to p has not seen what only the new plan has,
// such as a change that p declines beside another one, so that is left out as well.
func (p *Plan) Without(unwanted []Selector, o Options) (*Plan, error) {
	out, skipped := p, map[string]bool{}
	for len(unwanted) > 0 {
		for _, s := range unwanted {
			if skipped[s.text] {
				return nil, fmt.Errorf("%s cannot be left out of the plan", s.text)
			}
			skipped[s.text] = true
		}
		o.Skip = slices.Concat(o.Skip, unwanted)
		next, err := New(p.comparison, o)
		if err != nil {
			return nil, err
		}
		out, unwanted = next, next.beyond(p)
	}
	for i, d := range out.Declined {
		at := slices.IndexFunc(p.Declined, func(known Declined) bool { return known.Ref == d.Ref && known.ID == d.ID })
		if out != p && at >= 0 {
			out.Declined[i] = p.Declined[at] // p says why
		}
	}
	return out, nil
}

// beyond returns the selectors of what a plan has and another lacks.
func (p *Plan) beyond(other *Plan) (out []Selector) {
	for i := range p.Objects {
		o := &p.Objects[i]
		at := slices.IndexFunc(other.Objects, func(known ObjectPlan) bool { return known.Ref == o.Ref })
		if at < 0 {
			out = append(out, o.Selector(nil))
			continue
		}
		for _, c := range o.Changes {
			if !slices.ContainsFunc(other.Objects[at].Changes, func(known Change) bool { return known.ID == c.ID }) {
				out = append(out, o.Selector(c.Path))
			}
		}
	}
	return out
}

// Selector returns the selector of a place in the object, or of the whole object if the path is empty.
func (o *ObjectPlan) Selector(path object.Path) Selector {
	text := o.Ref.GroupKind().String() + "/" + o.Ref.Name
	if len(path) > 0 {
		text += ":" + path.String()
	}
	out, _ := ParseSelector(text) // it has a kind and a name
	return out
}

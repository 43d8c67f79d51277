package fixing

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// without plans again, with the options of a plan, without what some selectors name. Whoever agreed to the plan has not seen what only the
// new one has, such as a change that the plan declines beside another one, so that is left out as well.
func without(of *threeway.Comparison, plan *repair.Plan, o repair.Options, unwanted []repair.Selector) (*repair.Plan, error) {
	out, skipped := plan, map[repair.Selector]bool{}
	for len(unwanted) > 0 {
		before := len(skipped)
		for _, s := range unwanted {
			skipped[s] = true
		}
		if len(skipped) == before {
			return nil, hint.New(fmt.Errorf("%s cannot be left out of the plan", unwanted[0]), "--only and --skip choose without asking")
		}
		o.Skip = slices.Concat(o.Skip, unwanted)
		next, err := repair.New(of, o)
		if err != nil {
			return nil, err
		}
		out, unwanted = next, beyond(plan, next)
	}
	for i, d := range out.Declined { // the plan says why
		at := slices.IndexFunc(plan.Declined, func(known repair.Declined) bool { return known.Ref == d.Ref && known.ID == d.ID })
		if at >= 0 {
			out.Declined[i] = plan.Declined[at]
		}
	}
	return out, nil
}

// beyond returns the selectors of what one plan has and an earlier one lacks.
func beyond(earlier, plan *repair.Plan) (out []repair.Selector) {
	for _, o := range plan.Objects {
		at := slices.IndexFunc(earlier.Objects, func(known repair.ObjectPlan) bool { return known.Ref == o.Ref })
		if at < 0 {
			out = append(out, repair.Selector{Key: o.Ref.Key})
			continue
		}
		for _, c := range o.Changes {
			if !slices.ContainsFunc(earlier.Objects[at].Changes, func(known repair.Change) bool { return known.ID == c.ID }) {
				out = append(out, repair.Selector{Key: o.Ref.Key, Path: c.Path.String()})
			}
		}
	}
	return out
}

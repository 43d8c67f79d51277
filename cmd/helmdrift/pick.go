package main

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file asks for each field or object whether to write it, as git add -p does: --patch of fix and of absorb.

// addPatchFlag adds --patch.
func addPatchFlag(fs *pflag.FlagSet, patch *bool, verb string) {
	fs.BoolVarP(patch, "patch", "p", false, "ask for each field or object whether to "+verb+", as git add -p does")
}

// picker asks the questions of one run.
type picker struct {
	streams cli.Streams
	// all is set once the user wants all the rest, and over once the user wants nothing more.
	all, over bool
}

// errNoPicks is the error of --patch without a terminal.
var errNoPicks = hint.New(errors.New("nothing was written: --patch asks, and there is no terminal to ask on"),
	"--only and --skip choose without asking")

// pickHelp is the answer to ?.
const pickHelp = `y - yes
n - no
a - yes, and yes to all the rest
q - no, and no to all the rest: do what was chosen so far
? - this help
`

// wants asks a question and returns whether the answer is yes. Without an answer nothing is written.
func (p *picker) wants(ctx context.Context, ask func(io.Writer) error) (bool, error) {
	for !p.all && !p.over {
		if err := ask(p.streams.Err); err != nil {
			return false, err
		}
		switch word, err := p.streams.Terminal().ReadWord(ctx); {
		case err != nil:
			return false, errors.New("interrupted; nothing was written")
		case word == "y" || word == "yes":
			return true, nil
		case word == "n" || word == "no":
			return false, nil
		case word == "a":
			p.all = true
		case word == "q":
			p.over = true
		default:
			if _, err := io.WriteString(p.streams.Err, pickHelp); err != nil {
				return false, err
			}
		}
	}
	return p.all, nil
}

// pickedOut is the reason for what the answers leave.
const pickedOut = "left out by your answer"

// pick asks for each field or object of a plan, and returns the plan without what the user does not want.
func (f fixRun) pick(ctx context.Context, plan *repair.Plan) (*repair.Plan, error) {
	planned, p := f.result(plan, nil, f.before.Comparison), picker{streams: f.streams}
	var unwanted []string
	for i, whole := range planned.Plan {
		for _, part := range partsOf(whole) {
			wants, err := p.wants(ctx, func(w io.Writer) error {
				return output.WriteFixPick(w, planned, part, f.streams.Display(w, f.flags.color, planned.Time))
			})
			switch {
			case err != nil:
				return nil, err
			case !wants:
				unwanted = append(unwanted, selectorOf(plan.Objects[i], part))
			}
		}
	}
	if len(unwanted) == 0 {
		return plan, nil
	}
	chosen, err := f.options()
	if err != nil {
		return nil, err
	}
	if chosen.Skip, err = parseSelectors(chosen.Skip, unwanted); err != nil {
		return nil, err
	}
	left, err := repair.New(f.before.Comparison, chosen)
	if err != nil {
		return nil, err
	}
	f.explain(left, func(d repair.Declined) bool {
		return slices.ContainsFunc(plan.Declined, func(before repair.Declined) bool { return before.Ref == d.Ref && before.ID == d.ID })
	})
	left.Forecast(ctx, f.Comparer.Predict)
	return left, nil
}

// partsOf splits the plan of an object into what is asked for: each field, or the object as a whole.
func partsOf(whole report.FixPlan) (out []report.FixPlan) {
	if whole.Create || whole.HandOver {
		return []report.FixPlan{whole}
	}
	part := whole
	for _, field := range whole.Fields {
		part.Fields, part.Prune = []report.Finding{field}, nil
		out = append(out, part)
	}
	for _, field := range whole.Prune {
		part.Fields, part.Prune = nil, []report.Finding{field}
		out = append(out, part)
	}
	return out
}

// selectorOf returns the selector of a part of an object's plan.
func selectorOf(o repair.ObjectPlan, part report.FixPlan) string {
	text := o.Ref.GroupKind().String() + "/" + o.Ref.Name
	fields := slices.Concat(part.Fields, part.Prune)
	if len(fields) == 0 {
		return text
	}
	i := slices.IndexFunc(o.Changes, func(c repair.Change) bool { return c.ID == fields[0].ID })
	return text + ":" + o.Changes[i].Path.String()
}

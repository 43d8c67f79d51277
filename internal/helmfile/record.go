package helmfile

import (
	"context"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Runner runs helmfile with arguments. Its error has the message of helmfile.
type Runner func(ctx context.Context, args ...string) ([]byte, error)

// Record lets helmfile call this program as helm, and returns the releases of a state and what was recorded. The arguments of helmfile
// choose the file, the environment, and with a selector the releases. If helmfile fails before it calls helm for all of them, it runs again
// for each of the others, so that the others are recorded if one release fails.
func (r *Run) Record(ctx context.Context, run Runner, args []string, state *State) ([]Release, []Call, error) {
	_, failed := run(ctx, append(slices.Clone(args), "diff")...)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	calls, err := r.calls()
	if err != nil {
		return nil, nil, err
	}
	missing := ""
	if failed != nil {
		missing = failed.Error()
	}
	all := releases(state, calls, missing)
	left := object.Filter(all, func(one Release) bool { return one.IsInstalled && one.call.Args == nil }) // those that have no call
	if failed == nil || len(left) == 0 || len(all) == 1 {
		return all, calls, nil
	}
	base := withoutSelector(args)
	faults := map[string]string{}
	for _, one := range left {
		if _, err := run(ctx, append(slices.Clone(base), "--selector", one.selector(), "diff")...); err != nil {
			faults[one.selector()] = err.Error()
		}
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
	}
	if calls, err = r.calls(); err != nil {
		return nil, nil, err
	}
	all = releases(state, calls, missing)
	for i := range all {
		if fault := faults[all[i].selector()]; fault != "" && all[i].Fault != "" {
			all[i].Fault = fault
		}
	}
	return all, calls, nil
}

// withoutSelector returns arguments of helmfile without selectors, since several selectors choose what any of them chooses.
func withoutSelector(args []string) []string {
	out := slices.Clone(args)
	for i := slices.Index(out, "--selector"); i >= 0; i = slices.Index(out, "--selector") {
		out = slices.Delete(out, i, i+2)
	}
	return out
}

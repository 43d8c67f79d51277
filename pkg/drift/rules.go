package drift

import (
	"context"
	"slices"

	"github.com/helmdrift/helmdrift/internal/helmrelease"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// addIgnoreRules adds the ignore rules to the input: those of Flux, those of the options, and the built-in ones.
func (r run) addIgnoreRules(ctx context.Context, in *threeway.Input) error {
	in.Managers, in.ShowControllers = r.options.Managers, r.options.ShowControllers
	in.Warnings = append(in.Warnings, r.options.Warnings...)
	if r.options.FromFlux {
		rules, warnings, err := helmrelease.IgnoreRules(ctx, r.connection.Cluster, in.Name, in.OldObjects)
		if err != nil {
			return &FluxError{Err: err}
		}
		in.Rules, in.Warnings = rules, append(in.Warnings, warnings...)
	}
	in.Rules, in.Warnings = slices.Concat(in.Rules, r.rules), append(in.Warnings, r.ruleWarnings...)
	if !r.options.NoBuiltInRules {
		in.Rules = append(in.Rules, ignore.BuiltInRules()...)
	}
	return nil
}

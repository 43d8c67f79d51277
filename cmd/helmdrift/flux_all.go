package main

import (
	"context"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/flux"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/jobs"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is diff --next, about all HelmReleases of a cluster, and diff --from, about those of a working tree.

// all implements controlled.
func (f *fluxDiff) all(s cli.Streams, o diffOptions) (compareAll, error) {
	tree, err := f.tree(s, &o.CompareOptions)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, on deployer.Scanned, limits jobs.Limits) ([]report.Release, error) {
		return flux.Fleet{Question: f.question(s, &o.CompareOptions, limits), From: tree, On: on}.Compare(ctx)
	}, nil
}

// tree returns the working tree of --from, or nil without that flag. A mistyped folder is an error before a cluster is asked.
func (f *fluxDiff) tree(s cli.Streams, o *cli.CompareOptions) (*flux.From, error) {
	if f.From == "" {
		return nil, nil
	}
	order, err := applied.Order(f.From, f.Sources, s.In)
	if err != nil {
		return nil, err
	}
	order.Decrypts, order.FetchesBases = f.Sops, f.RemoteBases
	limits := o.Jobs()
	return &flux.From{
		Order: order, Commit: f.Changed, SecretLookups: f.SecretLookups, Vault: s.Env("VAULT_ADDR"), Time: limits.Time,
		MaxOutput: limits.MaxAnswer(), Known: s.Known,
		Run: func(ctx context.Context, order tree.Order, ask applied.Questions) (tree.Answer, error) {
			return jobs.Run[tree.Order, tree.Answer](ctx, limits, "building the working tree", jobFluxTree, order, map[string]confine.Call{
				askFlux: confine.NewCall(ask.Lookup), askRoot: confine.NewCall(ask.Makers),
				askSops: confine.NewCall(ask.Decrypt), askBase: confine.NewCall(ask.Fetch),
			})
		},
	}, nil
}

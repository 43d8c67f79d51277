package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/flux"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/jobs"
	"github.com/helmdrift/helmdrift/internal/program"
	"github.com/helmdrift/helmdrift/internal/worktree"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is diff --next, about all HelmReleases of a cluster, and diff --from, about those of a working tree.

// all implements controlled.
func (f *fluxDiff) all(s cli.Streams, o diffOptions) (compareAll, error) {
	order, err := f.order(s)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, on deployer.Scanned, limits jobs.Limits) ([]report.Release, error) {
		return f.compare(ctx, s, &o, order, flux.Fleet{Question: f.question(s, &o.CompareOptions, limits), On: on})
	}, nil
}

// compare compares what Flux does next with the HelmReleases of a cluster, or with those of a tree.
func (f *fluxDiff) compare(
	ctx context.Context, s cli.Streams, o *diffOptions, order tree.Order, fleet flux.Fleet,
) ([]report.Release, error) {
	from := fleet.On.Connection
	if f.From != "" {
		fleet.On.Namespace = "" // the tree names the namespaces
		from = fleet.Know(ctx)
	}
	now, before, err := f.trees(ctx, s, order, &o.CompareOptions, from)
	if err != nil && ctx.Err() == nil && f.From != "-" && !namesFlux(order.Root) {
		return nil, nothingBut{err} // kustomize cannot build a folder with charts, and Flux need not have anything to do with it
	}
	if err != nil {
		return nil, err
	}
	defer before.Close()
	fleet.Tree, fleet.Before = now, before
	return fleet.Compare(ctx)
}

// order returns the order for the working tree of --from. A mistyped folder is an error before a cluster is asked.
func (f *fluxDiff) order(s cli.Streams) (tree.Order, error) {
	if f.From == "" {
		return tree.Order{}, nil
	}
	out, err := applied.Order(f.From, f.Sources, s.In)
	out.Decrypts, out.FetchesBases = f.Sops, f.RemoteBases
	return out, err
}

// trees builds the working tree of --from and lays it over the cluster, and the one before the change if --only-changed names it. Both are nil
// without these flags.
func (f *fluxDiff) trees(
	ctx context.Context, s cli.Streams, order tree.Order, o *cli.CompareOptions, from drift.Connection,
) (now, before *applied.Tree, err error) {
	if f.From == "" {
		return nil, nil, nil
	}
	build, done := f.builder(ctx, s, o)
	defer done()
	if now, err = build(from, order); err != nil {
		return nil, nil, fmt.Errorf("--from %s: %w", f.From, err)
	}
	s.Known.AddKnown(now.Secrets())
	now.SecretLookups = f.SecretLookups
	if f.Changed == "" {
		return now, nil, nil
	}
	again := func(order tree.Order) (*applied.Tree, error) { return build(now.Seen(from), order) }
	if before, err = f.before(ctx, o, order, again); err != nil {
		return nil, nil, fmt.Errorf("--only-changed %s: %w", f.Changed, err)
	}
	return now, before, nil
}

// builder returns what builds a tree in a child process. Done removes what was fetched for that.
func (f *fluxDiff) builder(
	ctx context.Context, s cli.Streams, o *cli.CompareOptions,
) (build func(drift.Connection, tree.Order) (*applied.Tree, error), done func()) {
	limits := o.Jobs()
	sops := func(ctx context.Context, e tree.Encrypted) ([]byte, error) {
		return program.Sops{Vault: s.Env("VAULT_ADDR"), Time: limits.Time, MaxOutput: limits.MaxAnswer()}.Decrypt(ctx, e.Text, e.From, e.To, e.Vaults)
	}
	bases := &flux.Bases{MaxFile: limits.MaxAnswer(), Commit: func(ctx context.Context, url, ref string, at []netip.Addr) ([]byte, error) {
		return program.Remote{URL: url, Ref: ref, Addresses: at, Time: limits.Time, MaxOutput: limits.MaxAnswer()}.Fetch(ctx)
	}}
	build = func(from drift.Connection, order tree.Order) (*applied.Tree, error) {
		return applied.New(ctx, from, order, func(ctx context.Context, ask func(context.Context, applied.LookupOrder) ([]byte, error)) (
			tree.Answer, error) {
			return jobs.Run[tree.Order, tree.Answer](ctx, limits, "building the working tree", jobFluxTree, order,
				map[string]confine.Call{askFlux: confine.NewCall(ask), askSops: confine.NewCall(sops), askBase: confine.NewCall(bases.Fetch)})
		})
	}
	return build, bases.Close
}

// before builds the tree before the change. The caller closes it.
func (f *fluxDiff) before(
	ctx context.Context, o *cli.CompareOptions, order tree.Order, build func(tree.Order) (*applied.Tree, error),
) (out *applied.Tree, err error) {
	if order.Rendered {
		return nil, errors.New("what comes from stdin has no commit")
	}
	archive, err := program.Archive(ctx, order.Root, f.Changed, o.Jobs().MaxAnswer())
	if err != nil {
		return nil, err
	}
	order, done, err := flux.Earlier(order, archive)
	if err == nil {
		out, err = build(order)
	}
	if err != nil {
		done()
		return nil, err
	}
	out.Done = done
	return out, nil
}

// namesFlux reports whether a file of a tree may name Flux.
func namesFlux(root string) bool {
	isNamed, err := worktree.Names(root, "fluxcd")
	return isNamed || err != nil
}

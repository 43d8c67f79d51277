package flux

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/kustomize"
	"github.com/helmdrift/helmdrift/internal/program"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// From is the working tree of --from, and how to build it. A nil From is none.
type From struct {
	Order tree.Order
	// Commit is the commit before a change, or empty if no change is asked about.
	Commit string
	// SecretLookups lets charts look up Secrets of the cluster.
	SecretLookups bool
	// Vault is the address of the user's vault for sops. Time and MaxOutput limit programs.
	Vault     string
	Time      time.Duration
	MaxOutput int64
	// Run calls applied.Build in a child process, which asks the questions.
	Run func(context.Context, tree.Order, applied.Questions) (tree.Answer, error)
	// Known learns what is decrypted.
	Known *secret.Known

	// about are the HelmReleases that the comparison is about.
	about []object.Ref
}

// Trees builds the tree and lays it over the cluster, and the one before the change if there is one. About are the HelmReleases of the
// cluster that the comparison is about: the tree may make some of them. The caller closes the second tree.
func (f *From) Trees(ctx context.Context, from drift.Connection, about ...object.Ref) (now, before *applied.Tree, err error) {
	if f == nil {
		return nil, nil, nil
	}
	f.about = about
	build, done := f.Builder(ctx)
	defer done()
	if now, err = build(from, f.Order); err != nil {
		return nil, nil, fmt.Errorf("--from %s: %w", f.Order.Dir, err)
	}
	f.Known.AddKnown(now.Secrets())
	now.SecretLookups = f.SecretLookups
	if f.Commit == "" {
		return now, nil, nil
	}
	from = now.Seen(from)
	before, err = f.before(ctx, func(order tree.Order) (*applied.Tree, error) { return build(from, order) })
	if err != nil {
		return nil, nil, fmt.Errorf("--only-changed %s: %w", f.Commit, err)
	}
	return now, before, nil
}

// Builder returns what builds a tree. Done removes what was fetched for that.
func (f *From) Builder(ctx context.Context) (build func(drift.Connection, tree.Order) (*applied.Tree, error), done func()) {
	bases := &kustomize.Fetcher{Time: f.Time, MaxOutput: f.MaxOutput}
	questions := applied.Questions{Fetch: bases.Fetch, Decrypt: func(ctx context.Context, e tree.Encrypted) ([]byte, error) {
		return program.Sops{Vault: f.Vault, Time: f.Time, MaxOutput: f.MaxOutput}.Decrypt(ctx, e.Text, e.From, e.To, e.Vaults)
	}}
	build = func(from drift.Connection, order tree.Order) (*applied.Tree, error) {
		return applied.New(ctx, from, order, f.about, func(ctx context.Context, ask applied.Questions) (tree.Answer, error) {
			ask.Fetch, ask.Decrypt = questions.Fetch, questions.Decrypt
			return f.Run(ctx, order, ask)
		})
	}
	return build, bases.Close
}

// before builds the tree before the change.
func (f *From) before(ctx context.Context, build func(tree.Order) (*applied.Tree, error)) (out *applied.Tree, err error) {
	if f.Order.Rendered {
		return nil, errors.New("what comes from stdin has no commit")
	}
	archive, err := program.Archive(ctx, f.Order.Root, f.Commit, f.MaxOutput)
	if err != nil {
		return nil, err
	}
	order, done, err := earlier(f.Order, archive)
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

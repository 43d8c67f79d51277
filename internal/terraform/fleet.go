package terraform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/once"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Fleet says how to compare the releases of a plan. Several goroutines call its functions.
type Fleet struct {
	Question
	// Options are those of each comparison.
	Options drift.Options
	// Each calls do for each release, which is in the namespace of the same index. It may call several at the same time.
	Each func(namespaces []string, do func(i int))
	// Report returns the report of a comparison, with what Step.Finish adds to it.
	Report func(result *drift.Result, s *Step) report.Release
	// Progress is called with each report.
	Progress func(report.Release)

	// atFirst are the secrets that are known before the first comparison.
	atFirst *secret.Known
}

// Compare compares what Terraform does next with each release. If something goes wrong with one of them, its report has the error. Compare
// fails if ctx ends; even then, it returns the reports that it has.
func (f Fleet) Compare(ctx context.Context, from drift.Connection, all []Release) ([]report.Release, error) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Release) int {
		return cmp.Or(live.CompareNamespaces(a.place().Namespace, b.place().Namespace), cmp.Compare(a.Address, b.Address))
	})
	namespaces, reports := make([]string, len(all)), make([]report.Release, len(all))
	for i, r := range all {
		namespaces[i], reports[i] = r.place().Namespace, f.failed(from, r, errors.New("interrupted before it was read"))
	}
	var fetched fetchedCharts
	f.Fetch = fetched.once(f.Fetch)
	defer fetched.close()
	f.atFirst = &secret.Known{}
	f.atFirst.AddKnown(f.Known)
	f.Each(namespaces, func(i int) {
		reports[i] = f.compare(ctx, from, all[i])
		f.Progress(reports[i])
	})
	return reports, ctx.Err()
}

// fetchedCharts keeps the charts of many releases, so that each is fetched once.
type fetchedCharts struct {
	charts once.Map[chartKey, string]
	mu     sync.Mutex
	done   []func()
}

// chartKey is what decides which chart is fetched. Another login may get another chart.
type chartKey struct {
	ref, version, repository, username, password, keyring string
	verify                                                bool
}

// once returns a function that keeps the answers of another one.
func (k *fetchedCharts) once(
	fetchChart func(context.Context, string, fetch.Options) (string, func(), error),
) func(context.Context, string, fetch.Options) (string, func(), error) {
	return func(ctx context.Context, ref string, o fetch.Options) (string, func(), error) {
		path, err := k.charts.Get(chartKey{ref, o.Version, o.RepoURL, o.Username, o.Password, o.Keyring, o.Verify}, func() (string, error) {
			path, done, err := fetchChart(ctx, ref, o)
			if done != nil {
				k.mu.Lock()
				defer k.mu.Unlock()
				k.done = append(k.done, done)
			}
			return path, err
		})
		return path, nil, err
	}
}

// close removes the files.
func (k *fetchedCharts) close() {
	for _, done := range k.done {
		done()
	}
}

// compare compares what Terraform does next with one release. Whatever goes wrong is an error in the report.
func (f Fleet) compare(ctx context.Context, from drift.Connection, r Release) (out report.Release) {
	defer func() {
		if cause := recover(); cause != nil {
			out = f.failed(from, r, fmt.Errorf("internal error: %v", cause))
		}
	}()
	// A child process gets all secrets that are known, and those of the other releases are none of its business.
	all, own := f.Known, &secret.Known{}
	own.AddKnown(f.atFirst)
	defer all.AddKnown(own)
	f.Known = own
	step, err := New(ctx, from, f.Question, r)
	if err != nil {
		return f.failed(from, r, err)
	}
	f.Options.Known = (*drift.Secrets)(own.With(nil))
	result, err := drift.New(from, step.Adapt(f.Options)).Compare(ctx, step.Target)
	if err != nil {
		return f.failed(from, r, err)
	}
	return f.Report(result, step)
}

// failed returns the report of a release that could not be compared.
func (f Fleet) failed(from drift.Connection, r Release, err error) report.Release {
	said, why, at := f.Known.Scrub(hint.Sentence(err)), f.Known.Scrub(err.Error()), r.place()
	return report.Release{
		Name: cmp.Or(at.Name, r.Address), Namespace: at.Namespace, StorageNamespace: at.Namespace, Cluster: from.Name,
		Operation: report.OperationDrift, Warnings: []report.Message{}, NotCompared: []report.NotCompared{}, Objects: []report.Object{},
		Errors: []report.Message{{Code: CodeIncomplete, Message: said}},
		Deployer: &report.Deployer{
			Kind: kind, Namespace: at.Namespace, Name: r.Address, Controller: controller,
			Action: report.DeployerUnknown, Reason: why, PutsBack: report.PutsBackUnknown,
		},
	}
}

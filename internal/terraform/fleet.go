package terraform

import (
	"cmp"
	"context"
	"slices"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/live/lists"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Fleet says how to compare the releases of a plan. Several goroutines call its functions.
type Fleet struct {
	Question
	// Problems are those of the plan. IsFirst is set if no other call of Compare is about the same plan: it has the problems, and the releases
	// whose place is not known.
	Problems []string
	IsFirst  bool
	// On is the cluster.
	On deployer.Scanned
}

// Compare compares what Terraform does next with each release. If On has a namespace, it compares the releases in it.
// If something goes wrong with a release, its report has the error. Compare fails if ctx ends; even then, it returns the reports that it
// has.
func (f Fleet) Compare(ctx context.Context, all []Release) ([]report.Release, error) {
	if f.IsFirst {
		for _, problem := range f.Problems {
			f.On.Fail(report.Message{Code: report.ErrorSource, Message: problem})
		}
	}
	all = slices.DeleteFunc(slices.Clone(all), func(r Release) bool {
		at, isKnown := r.Namespace()
		return isKnown && f.On.Namespace != "" && at != f.On.Namespace || !isKnown && !f.IsFirst
	})
	order.Sort(all, func(a, b Release) int {
		return cmp.Or(lists.CompareNamespaces(a.place().Namespace, b.place().Namespace), cmp.Compare(a.Address, b.Address))
	})
	var fetched deployer.Fetched
	defer fetched.Close()
	f.Fetch = fetched.Charts(f.Fetch)
	reports := deployer.Fleet[Release]{
		Title:   func(r Release) report.Release { return titled(f.On.Name, r) },
		Compare: func(own *secret.Known, r Release) (report.Release, error) { return f.compare(ctx, own, r) },
		Anew: func(own *secret.Known, r Release) (report.Release, error) {
			anew := f
			anew.On.Connection = f.On.Alone
			return anew.compare(ctx, own, r)
		},
		Code: CodeIncomplete, Known: f.Known, Each: f.On.Each, Progress: f.On.Show, Changed: f.On.ChangedUntil(ctx),
	}.Start().All(all)
	return reports, ctx.Err()
}

// compare compares what Terraform does next with one release. Own has its secrets.
func (f Fleet) compare(ctx context.Context, own *secret.Known, r Release) (report.Release, error) {
	f.Known = own
	step, err := New(ctx, f.On.Connection, f.Question, r)
	if err != nil {
		return report.Release{}, err
	}
	f.On.Options.Known = (*drift.Secrets)(own.With(nil))
	result, err := drift.New(f.On.Connection, step.Adapt(f.On.Options)).Compare(ctx, step.Target)
	if err != nil {
		return report.Release{}, err
	}
	return f.On.Report(result, func(result *drift.Result, r *report.Release) { step.Finish(ctx, result, r) }), nil
}

// titled returns a report that says which release it is about.
func titled(cluster string, r Release) report.Release {
	at := r.place()
	return report.Release{
		Name: cmp.Or(at.Name, r.Address), Namespace: at.Namespace, StorageNamespace: at.Namespace,
		Cluster: cluster, Operation: report.OperationDrift,
		Deployer: &report.Deployer{Kind: kind, Namespace: at.Namespace, Name: r.Address, Controller: controller},
	}
}

package deployer

import (
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// ErrNothing is the error of a comparison of a release that neither is there nor will be. It has no report.
var ErrNothing = errors.New("there is nothing to compare")

// ErrNoObject is the error of a cluster or a working tree that has no object of a controller.
var ErrNoObject = errors.New("there is no such object")

// Fleet compares what a deployer does next with many releases. Several goroutines call its functions.
type Fleet[T any] struct {
	// Title returns a report that says which release it is and who deploys it, and nothing else.
	Title func(of T) report.Release
	// Compare compares one release. It is called with secrets of its own; see Start.
	Compare func(known *secret.Known, of T) (report.Release, error)
	// Code is the code of the error of a release that Compare fails on.
	Code string
	// Known has the secrets that are known, and learns those of each comparison.
	Known *secret.Known
	// Each calls do for each release, which is in the namespace of the same index. It may call several at the same time.
	Each func(namespaces []string, do func(i int))
	// Progress is called with each report. It may be nil.
	Progress func(report.Release)
	// Changed reports which of some releases have other records than their comparisons have seen, and Anew compares one of them as Compare does,
	// with a connection that reads everything anew. Changed may be nil.
	Changed func(releases []drift.Target) []bool
	Anew    func(known *secret.Known, of T) (report.Release, error)
}

// StartedFleet compares the releases of a Fleet. See Start.
type StartedFleet[T any] struct {
	Fleet[T]
	// atFirst has the secrets that were known at the start.
	atFirst *secret.Known
}

// Start returns the fleet with the secrets that are known now. Each comparison knows them and its own: a child process gets all secrets
// that its comparison knows, and those of the other releases are none of its business. They would also make the work grow with the square
// of their number.
func (f Fleet[T]) Start() StartedFleet[T] {
	out := StartedFleet[T]{Fleet: f, atFirst: &secret.Known{}}
	out.atFirst.AddKnown(f.Known)
	return out
}

// All compares releases, which are in the order that Each wants. It returns a report for each but those with nothing to compare. Those
// that Each leaves out, since somebody has interrupted it, have an error. A release that somebody deploys meanwhile is compared again.
func (f StartedFleet[T]) All(all []T) []report.Release {
	namespaces, reports, isSkipped := make([]string, len(all)), make([]report.Release, len(all)), make([]bool, len(all))
	for i, of := range all {
		reports[i] = f.unread(f.Known, of, errors.New("interrupted before it was read"))
		namespaces[i] = reports[i].Namespace
	}
	f.Each(namespaces, func(i int) {
		if reports[i], isSkipped[i] = f.One(all[i]); !isSkipped[i] && f.Progress != nil {
			f.Progress(reports[i])
		}
	})
	f.again(all, reports, isSkipped)
	out := reports[:0]
	for i, r := range reports {
		if !isSkipped[i] {
			out = append(out, r)
		}
	}
	return out
}

// again compares again the releases whose records have changed meanwhile, if their reports could be wrong.
func (f StartedFleet[T]) again(all []T, reports []report.Release, isSkipped []bool) {
	if f.Changed == nil {
		return
	}
	var doubtful []int
	var releases []drift.Target
	for i, r := range reports {
		if !isSkipped[i] && (r.HasError() || len(r.Objects) > 0 || r.Deployer.Action != report.DeployerNone) {
			doubtful, releases = append(doubtful, i), append(releases, drift.Target{Namespace: r.StorageNamespace, Release: r.Name})
		}
	}
	if len(doubtful) == 0 {
		return
	}
	f.Compare = f.Anew
	const atOnce = 8
	var group errgroup.Group
	group.SetLimit(atOnce)
	for n, isChanged := range f.Changed(releases) {
		if i := doubtful[n]; isChanged {
			group.Go(func() error {
				reports[i], isSkipped[i] = f.One(all[i])
				return nil
			})
		}
	}
	_ = group.Wait() // no comparison returns an error
}

// One compares one release. Whatever goes wrong is an error in the report. A release with nothing to compare is skipped.
func (f StartedFleet[T]) One(of T) (out report.Release, isSkipped bool) {
	own := f.atFirst.With(nil)
	defer f.Known.AddKnown(own)
	defer func() {
		if cause := recover(); cause != nil {
			out = f.unread(own, of, fmt.Errorf("internal error: %v", cause))
		}
	}()
	out, err := f.Compare(own, of)
	switch {
	case errors.Is(err, ErrNothing):
		return report.Release{}, true
	case err != nil:
		return f.unread(own, of, err), false
	}
	return out, false
}

// unread returns the report of a release that could not be compared.
func (f Fleet[T]) unread(known *secret.Known, of T, err error) report.Release {
	out := f.Title(of)
	out.Warnings, out.NotCompared, out.Objects = []report.Message{}, []report.NotCompared{}, []report.Object{}
	out.Errors = []report.Message{{Code: f.Code, Message: known.ScrubProblem(hint.Sentence(err))}}
	by := *out.Deployer
	by.Action, by.Reason, by.PutsBack = report.DeployerUnknown, known.ScrubProblem(err.Error()), report.PutsBackUnknown
	out.Deployer = &by
	return out
}

package search

import (
	"context"
	"sync"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fleet"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Share returns a cluster where deployers compare many releases, which share what they read. Done ends that.
func (j *Search) Share(
	ctx context.Context, source fleet.Source, found fleet.Found, show func(fleet.Progress),
) (out deployer.Scanned, done func()) {
	labelled, unlabelled := source.Share(ctx, found, found.Namespace == "" && found.Namespaces == nil), source.ShareAll(ctx)
	open := []fleet.Sharing{labelled, unlabelled}
	var mu sync.Mutex
	var progress fleet.Progress
	shared := func(sharing fleet.Sharing, changed func(context.Context, []drift.Target) []bool) deployer.Shared {
		each := func(namespaces []string, do func(int)) {
			progress.Total += len(namespaces) // another deployer may have compared before
			sharing.Each(ctx, namespaces, j.flags.Concurrency, do)
		}
		return deployer.Shared{Connection: sharing.Connection, Each: each, Changed: changed}
	}
	out = deployer.Scanned{
		Shared: shared(labelled, labelled.Changed), Unlabelled: shared(unlabelled, nil), Wide: func() deployer.Shared {
			wide := labelled.Wide(ctx)
			open = append(open, wide)
			return shared(wide, wide.Changed)
		},
		Alone: drift.LiveConnection(source.Cluster, source.Name, source.Storage), Namespace: found.Namespace, List: source.Cluster.ListLatest,
		Note: j.Note, Fail: func(m report.Message) {
			j.Add(report.ScanError{Code: m.Code, Cluster: source.Name, Message: m.Message})
		},
		Show: func(r report.Release) {
			mu.Lock()
			defer mu.Unlock()
			progress.Add(r)
			show(progress)
		},
	}
	return out, func() {
		for _, sharing := range open {
			sharing.Close()
		}
	}
}

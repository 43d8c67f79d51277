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
	sharing := source.Share(ctx, found.Namespace == "" && found.Namespaces == nil).WithRecords(found)
	unlabelled := source.ShareAll(ctx)
	var mu sync.Mutex
	var progress fleet.Progress
	each := func(sharing fleet.Sharing) func([]string, func(int)) {
		return func(namespaces []string, do func(int)) {
			progress.Total += len(namespaces) // another deployer may have compared before
			sharing.Each(ctx, namespaces, j.flags.Concurrency, do)
		}
	}
	out = deployer.Scanned{
		Connection: sharing.Connection, Unlabelled: unlabelled.Connection, Namespace: found.Namespace, List: source.Cluster.ListLatest,
		Note: j.Note, Fail: func(m report.Message) {
			j.Add(report.ScanError{Code: m.Code, Cluster: source.Name, Message: m.Message})
		},
		Alone: drift.LiveConnection(source.Cluster, source.Name, source.Storage), Changed: sharing.Changed, Widen: func() { sharing.Widen(ctx) },
		Each: each(sharing), EachUnlabelled: each(unlabelled),
		Show: func(r report.Release) {
			mu.Lock()
			defer mu.Unlock()
			progress.Add(r)
			show(progress)
		},
	}
	return out, func() {
		unlabelled.Close()
		sharing.Close()
	}
}

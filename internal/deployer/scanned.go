package deployer

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Scanned is a cluster where what a deployer does next with many releases is compared.
type Scanned struct {
	Shared
	// Unlabelled is for objects that need not have Helm's label.
	Unlabelled Shared
	// Wide returns a connection that lists across all namespaces, which is cheaper if most releases of the cluster are compared. One
	// goroutine at a time calls it.
	Wide func() Shared
	// Namespace is the namespace of the objects that the releases come from. It is empty for all.
	Namespace string
	// List lists the objects of a kind in a namespace, or in all if it is empty, as they are now.
	List func(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]map[string]any, error)
	// Alone is a connection that reads everything anew.
	Alone drift.Connection
	// Note prints a message, and Fail adds what could not be searched or read.
	Note func(string)
	Fail func(report.Message)
	// Options are those of each comparison, and Report returns the report of one. Finish adds what the deployer does; it may be nil.
	Options drift.Options
	Report  func(result *drift.Result, finish func(*drift.Result, *report.Release)) report.Release
	// Show is called with each report.
	Show func(report.Release)
}

// Shared is a connection for many comparisons, which share what they read.
type Shared struct {
	drift.Connection
	// Each calls do for each release, which is in the namespace of the same index. It may call several at the same time.
	Each func(namespaces []string, do func(i int))
	// Changed reports which of some releases, by the namespaces of their records and their names, have changed since the comparisons read
	// their records. It is nil if they share no records.
	Changed func(ctx context.Context, releases []drift.Target) []bool
}

// ChangedUntil returns Fleet.Changed for the connection: which releases have changed. Once ctx has ended, it reports none.
func (s Shared) ChangedUntil(ctx context.Context) func([]drift.Target) []bool {
	if s.Changed == nil {
		return nil
	}
	return func(releases []drift.Target) []bool {
		if ctx.Err() != nil {
			return nil
		}
		return s.Changed(ctx, releases)
	}
}

package drift_test

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// inMemory is a release and a cluster in memory. Comparing built-in kinds calls no other methods of the interfaces.
type inMemory struct {
	drift.Records
	drift.Cluster
	record release.Record
	live   map[string]any
}

func (m inMemory) History(context.Context, string) (release.History, error) {
	return release.History{Entries: []release.Entry{{Release: m.record.Name, Revision: m.record.Revision}}}, nil
}

func (m inMemory) Load(ctx context.Context, name string, _ int, _ release.Options) (*release.Loaded, error) {
	history, err := m.History(ctx, name)
	return &release.Loaded{History: history, Old: &m.record, Last: &m.record}, err
}

func (m inMemory) Resource() string                                       { return "secrets" }
func (m inMemory) Scope(schema.GroupVersionKind) (namespaced, known bool) { return true, true }
func (m inMemory) Terminating(context.Context, []string) (map[string]bool, []report.Message) {
	return nil, nil
}
func (m inMemory) List(context.Context, schema.GroupVersionKind, string) ([]map[string]any, error) {
	return nil, nil
}
func (m inMemory) Read(_ context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	return map[object.Ref]cluster.Live{wanted[0]: {Object: m.live}}
}

func Example() {
	manifest := "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {mode: fast}}"
	live := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"mode": "slow"}}
	memory := inMemory{
		record: release.Record{Name: "web", Namespace: "prod", Revision: 1, Manifest: manifest},
		live:   object.HelmMetadata(live, "web", "prod"),
	}
	connection := drift.Connection{Cluster: memory, Records: func(string) (drift.Records, error) { return memory, nil }}

	result, err := drift.New(connection, drift.Options{}).Compare(context.Background(), drift.Target{Namespace: "prod", Release: "web"})
	if err != nil {
		panic(err)
	}
	for _, o := range result.Report(threeway.Mask{}).Objects {
		for _, f := range o.Fields {
			fmt.Printf("%s %s: helm upgrade will %s %s: %v, was %v\n", o.Kind, o.Name, f.Verdict, f.Path, f.Live, f.Old)
		}
	}
	// Output:
	// ConfigMap web: helm upgrade will overwrite data.mode: slow, was fast
}

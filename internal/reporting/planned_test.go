package reporting

import (
	"fmt"
	"testing"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// TestPlanned checks that a report has the plan of a fix, unless it has too many findings.
func TestPlanned(t *testing.T) {
	f := &Flags{chooser: &cli.Chooser{}}
	for n, want := range map[int]bool{3: true, mostPlanned + 1: false} {
		ref := object.Ref{Key: object.Key{Kind: "ConfigMap", Namespace: "d", Name: "c"}, Version: "v1"}
		content := func(value string) map[string]any {
			data := map[string]any{}
			for i := range n {
				data[fmt.Sprint("k", i)] = value
			}
			return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c", "namespace": "d"}, "data": data}
		}
		old := object.Object{Ref: ref, Content: content("a")}
		in := threeway.Input{
			Name: "r", Namespace: "d", StorageNamespace: "d", Operation: report.OperationDrift, ApplyMethod: report.ApplyClientSide,
			Old: &report.Revision{Revision: 1, Status: "deployed"}, OldObjects: []object.Object{old}, DesiredObjects: []object.Object{old},
			Live: map[object.Ref]cluster.Live{ref: {Object: object.HelmMetadata(content("b"), "r", "d")}},
		}
		in.Last = in.Old
		plan, isPlanned := f.planned(threeway.Compare(in))
		if isPlanned != want || isPlanned && (len(plan) != 1 || len(plan[0].Fields) != n) {
			t.Errorf("%d findings: planned %v, %d objects", n, isPlanned, len(plan))
		}
	}
}

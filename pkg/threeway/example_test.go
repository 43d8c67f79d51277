package threeway_test

import (
	"fmt"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Compare predicts what Helm does with each field. The chart changes the mode, and somebody added a key in the cluster: Helm changes the
// mode, and leaves the key.
func ExampleCompare() {
	ref := object.Ref{Key: object.Key{Kind: "ConfigMap", Namespace: "prod", Name: "web"}, Version: "v1"}
	configMap := func(data map[string]any) map[string]any {
		metadata := map[string]any{"name": "web", "namespace": "prod"}
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
	}
	live := object.HelmMetadata(configMap(map[string]any{"mode": "slow", "debug": "on"}), "web", "prod")

	comparison := threeway.Compare(threeway.Input{
		Name: "web", Namespace: "prod", StorageNamespace: "prod", Operation: report.OperationUpgrade, ApplyMethod: "client-side",
		Old: &report.Revision{Revision: 1, Status: "deployed"}, Last: &report.Revision{Revision: 1, Status: "deployed"},
		OldObjects:     []object.Object{{Ref: ref, Content: configMap(map[string]any{"mode": "slow"})}},
		DesiredObjects: []object.Object{{Ref: ref, Content: configMap(map[string]any{"mode": "fast"})}},
		Live:           map[object.Ref]cluster.Live{ref: {Object: live}},
	})
	for _, o := range comparison.Report(threeway.Mask{}).Objects {
		fmt.Printf("%s %s: %s\n", o.Kind, o.Name, o.Action)
		for _, f := range o.Fields {
			fmt.Printf("  %s %s, because of %s: it is %v\n", f.Verdict, f.Path, f.Cause, f.Live)
		}
	}
	// Output:
	// ConfigMap web: update
	//   ignore data.debug, because of drift: it is on
	//   overwrite data.mode, because of change: it is slow
}

// Requests are the writes that Helm would send, such as for a dry run.
func ExampleComparison_Requests() {
	ref := object.Ref{Key: object.Key{Kind: "ConfigMap", Namespace: "prod", Name: "web"}, Version: "v1"}
	configMap := func(mode string) map[string]any {
		metadata := map[string]any{"name": "web", "namespace": "prod"}
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": map[string]any{"mode": mode}}
	}
	comparison := threeway.Compare(threeway.Input{
		Name: "web", Namespace: "prod", StorageNamespace: "prod", Operation: report.OperationUpgrade, ApplyMethod: "client-side",
		Old: &report.Revision{Revision: 1, Status: "deployed"}, Last: &report.Revision{Revision: 1, Status: "deployed"},
		OldObjects:     []object.Object{{Ref: ref, Content: configMap("slow")}},
		DesiredObjects: []object.Object{{Ref: ref, Content: configMap("fast")}},
		Live:           map[object.Ref]cluster.Live{ref: {Object: object.HelmMetadata(configMap("slow"), "web", "prod")}},
	})
	for _, r := range comparison.Requests() {
		fmt.Printf("%s %s: %s %s\n", r.Method, r.Ref.Key, r.PatchType, r.Body)
	}
	// Output:
	// patch ConfigMap prod/web: application/strategic-merge-patch+json {"data":{"mode":"fast"}}
}

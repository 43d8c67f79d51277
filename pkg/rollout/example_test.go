package rollout_test

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/rollout"
)

// oneObject is a Cluster with one object. A program passes a *live.Cluster.
type oneObject map[string]any

func (o oneObject) Get(context.Context, object.Ref) (map[string]any, error) { return o, nil }
func (o oneObject) Select(context.Context, schema.GroupVersionResource, string, metav1.ListOptions) ([]map[string]any, error) {
	return nil, nil
}
func (o oneObject) Log(context.Context, string, string, string, bool, int) (string, error) {
	return "", nil
}

func ExampleWait() {
	ref := object.Ref{Key: object.Key{Group: "batch", Kind: "Job", Namespace: "prod", Name: "migrate"}, Version: "v1"}
	failed := oneObject{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "migrate", "namespace": "prod"},
		"status": map[string]any{"failed": int64(1), "conditions": []any{map[string]any{
			"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit"}}}}
	for _, state := range rollout.Wait(context.Background(), failed, []object.Ref{ref}, rollout.Options{Timeout: time.Second}) {
		fmt.Println(state.Ref.Kind, state.Ref.Name, state.Status, state.Reason)
	}
	// Output:
	// Job migrate failed BackoffLimitExceeded: Job has reached the specified backoff limit
}

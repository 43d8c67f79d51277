package e2e

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// upgradeCase is one object of testdata/refused/immutable.yaml, which TestImmutableFields of internal/apiserver reads too.
type upgradeCase struct {
	Object  map[string]any            `json:"object"`
	Status  map[string]any            `json:"status"`
	Refused map[string]map[string]any `json:"refused"`
	Allowed []map[string]any          `json:"allowed"`
}

// TestImmutableFields lets the API server judge the cases that test the table of immutable fields. This control plane has no controllers,
// so each object keeps the status of its case.
func TestImmutableFields(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	on := quietCluster(t).on
	must(t, on.create(ctx, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}", "default", "test"))
	raw, err := os.ReadFile("../../testdata/refused/immutable.yaml")
	must(t, err)
	var cases []upgradeCase
	must(t, yaml.Unmarshal(raw, &cases))
	for _, c := range cases {
		obj := &unstructured.Unstructured{Object: c.Object}
		client, _, err := on.OfKind(obj.GroupVersionKind(), "default")
		must(t, err)
		patch := func(t *testing.T, body map[string]any, options metav1.PatchOptions, subresources ...string) error {
			raw, err := json.Marshal(body)
			must(t, err)
			_, err = client.Patch(ctx, obj.GetName(), types.StrategicMergePatchType, raw, options, subresources...)
			return err
		}
		t.Run(obj.GetKind()+"/"+obj.GetName(), func(t *testing.T) {
			_, err := client.Create(ctx, obj, metav1.CreateOptions{})
			must(t, err)
			if c.Status != nil {
				must(t, patch(t, map[string]any{"status": c.Status}, metav1.PatchOptions{}, "status"))
			}
			dry := metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}
			for paths, body := range c.Refused {
				err := patch(t, body, dry)
				if theirs := refusedFields(err); len(theirs) == 0 || !namesEach(singly(paths), theirs) {
					t.Errorf("%s: the server names %q: %v", paths, theirs, err)
				}
			}
			for _, body := range c.Allowed {
				if err := patch(t, body, dry); err != nil {
					t.Errorf("%v is refused: %v", body, err)
				}
			}
		})
	}
}

// refusedFields returns the fields that the server calls invalid.
func refusedFields(err error) []string {
	if !apierrors.IsInvalid(err) {
		return nil
	}
	return serverFields(misnamed.Replace(err.Error()))
}

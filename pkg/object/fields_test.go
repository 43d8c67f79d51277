package object_test

import (
	"errors"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestEndsDeletion checks which writes remove an object that is being deleted.
func TestEndsDeletion(t *testing.T) {
	const deleted, held = "deletionTimestamp: '2026-11-20T10:00:00Z'", ", finalizers: [ex.com/hold]"
	for _, tc := range []struct {
		live, result string
		want         bool
	}{
		{deleted + held, "metadata: {name: a}", true},
		{deleted + held + ", deletionGracePeriodSeconds: 0", "metadata: {finalizers: []}", true},
		{deleted + held + ", deletionGracePeriodSeconds: 30", "metadata: {name: a}", false},
		{deleted + held, "metadata: {finalizers: [ex.com/other]}", false},
		{deleted, "metadata: {name: a}", false},
		{"name: a" + held, "metadata: {name: a}", false},
		{deleted + held, "", false},
	} {
		var live, result map[string]any
		if err := errors.Join(yaml.Unmarshal([]byte("metadata: {"+tc.live+"}"), &live), yaml.Unmarshal([]byte(tc.result), &result)); err != nil {
			t.Fatal(err)
		}
		if got := object.EndsDeletion(live, result); got != tc.want {
			t.Errorf("%s, then %s: %v", tc.live, tc.result, got)
		}
	}
	namespace := map[string]any{
		"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"deletionTimestamp": "2026-11-20T10:00:00Z", "finalizers": []any{"ex.com/hold"}},
		"spec":     map[string]any{"finalizers": []any{"kubernetes"}},
	}
	result := map[string]any{"metadata": map[string]any{}}
	whileHeld := object.EndsDeletion(namespace, result)
	namespace["spec"] = map[string]any{}
	if whileHeld || !object.EndsDeletion(namespace, result) {
		t.Error("a Namespace goes while its spec has finalizers, or stays without")
	}
}

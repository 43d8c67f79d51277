package forecast

import (
	"testing"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestClaimsOfManyReplicas looks for lost claims of a StatefulSet that keeps more replicas than a loop can count, and loses one.
func TestClaimsOfManyReplicas(t *testing.T) {
	set := func(start int64) map[string]any {
		return map[string]any{"spec": map[string]any{
			"replicas": int64(1) << 62, "ordinals": map[string]any{"start": start},
			"volumeClaimTemplates": []any{map[string]any{"metadata": map[string]any{"name": "data"}}},
		}}
	}
	o := &Object{Action: report.ActionUpdate, Before: set(0), After: set(1)}
	o.Key = object.Key{Group: "apps", Kind: "StatefulSet", Name: "db"}
	if names, _ := lostClaims(o); len(names) != 1 || names[0] != "data-db-0" {
		t.Errorf("lost %q", names)
	}
	o.Before = o.After
	if names, _ := lostClaims(o); len(names) > 0 {
		t.Errorf("lost %q", names)
	}
}

package threeway

import (
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestPendingRollback checks that a rollback whose hook fails is said to leave its record pending, and that only a helm command is said to
// be stopped by it: helm-controller marks such a record as failed.
func TestPendingRollback(t *testing.T) {
	old := objectsOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {helm.sh/resource-policy: keep}}}")
	hook := Hook{Kind: "ConfigMap", Name: "a", Key: old[0].Key, Event: "post-rollback"}
	for _, by := range []*Deployment{nil, {}} {
		c := Compare(Input{
			Name: "r", Namespace: "d", StorageNamespace: "d", Operation: report.OperationRollback, ApplyMethod: report.ApplyClientSide, By: by,
			Last: &report.Revision{Revision: 4}, Desired: &report.Desired{Helm: "3"}, OldObjects: old, Hooks: []Hook{hook},
			Live: map[object.Ref]cluster.Live{old[0].Ref: {Object: old[0].Content}},
		})
		if len(c.Warnings) != 1 || c.Warnings[0].Code != "left-pending" || !strings.Contains(c.Warnings[0].Message, "leaves revision 5 ") ||
			strings.Contains(c.Warnings[0].Message, "another operation") != (by == nil) {
			t.Errorf("by %v: %+v", by, c.Warnings)
		}
	}
}

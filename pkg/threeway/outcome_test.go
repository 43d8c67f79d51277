package threeway

import (
	"maps"
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

// TestEarlierHook checks that a hook that fails leaves the objects of later ones, and that Helm has deleted that of an earlier one before,
// whatever the order in the input.
func TestEarlierHook(t *testing.T) {
	old := objectsOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: fails}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: first}}\n---\n"+
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: last}}")
	hook := func(i, weight int, isDeleted bool) Hook {
		return Hook{Kind: "ConfigMap", Name: old[i].Name, Key: old[i].Key, Event: "pre-upgrade", First: true, Weight: weight, DeletedBefore: isDeleted}
	}
	in := Input{
		Name: "r", Namespace: "d", StorageNamespace: "d", Operation: report.OperationUpgrade, ApplyMethod: report.ApplyClientSide,
		Desired: &report.Desired{Helm: "3"}, OldObjects: old, Hooks: []Hook{hook(0, 1, false), hook(1, 0, true), hook(2, 2, true)},
		Live: map[object.Ref]cluster.Live{},
	}
	for _, o := range old {
		in.Live[o.Ref] = cluster.Live{Object: o.Content}
	}
	got := map[string]report.Action{}
	for _, o := range Compare(in).Objects {
		got[o.Name] = o.Action
	}
	want := map[string]report.Action{"fails": report.ActionFail, "first": report.ActionDelete, "last": report.ActionSkip}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

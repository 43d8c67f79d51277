package fixing

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/effect"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// agent returns a DaemonSet with an update strategy and an image.
func agent(t *testing.T, strategy, image string) map[string]any {
	t.Helper()
	var out map[string]any
	err := yaml.Unmarshal(fmt.Appendf(nil, "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent, namespace: d}, spec: {selector: "+
		"{matchLabels: {app: agent}}, updateStrategy: {type: %s}, template: {metadata: {labels: {app: agent}}, spec: {containers: "+
		"[{name: a, image: %s}]}}}}", strategy, image), &out)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// compared compares a release of one object, which is in the cluster.
func compared(ref object.Ref, stored, live map[string]any) *threeway.Comparison {
	old := object.Object{Ref: ref, Content: stored}
	live = object.HelmMetadata(live, "r", "d")
	object.Child(live, "metadata")["uid"] = "u"
	in := threeway.Input{
		Name: "r", Namespace: "d", StorageNamespace: "d", Operation: report.OperationDrift, ApplyMethod: report.ApplyClientSide,
		Old: &report.Revision{Revision: 1, Status: "deployed"}, OldObjects: []object.Object{old}, DesiredObjects: []object.Object{old},
		Live: map[object.Ref]cluster.Live{ref: {Object: live}},
	}
	in.Last = in.Old
	return threeway.Compare(in)
}

// TestWithout checks that a plan without what the user does not want has nothing that the user was not asked about. Without a restart, the
// image is put back as long as live has OnDelete, and the strategy is declined beside the image. Alone, it would restart nothing.
func TestWithout(t *testing.T) {
	ref := object.Ref{Key: object.Key{Group: "apps", Kind: "DaemonSet", Namespace: "d", Name: "agent"}, Version: "v1"}
	options := repair.Options{NoRestart: true, Forecast: func(_ context.Context, _ effect.Reader, o effect.Operation) effect.Effects {
		out := effect.Effects{Objects: map[object.Key]*report.Effect{}}
		for _, w := range o.Objects {
			spec, before := object.Child(w.After, "spec"), object.Child(w.Before, "spec")
			isRolled := object.Child(spec, "updateStrategy")["type"] == "RollingUpdate"
			if isRolled && !object.Equal(spec["template"], before["template"]) {
				out.Objects[w.Key] = &report.Effect{Restarts: 1}
			}
		}
		return out
	}}
	c := compared(ref, agent(t, "RollingUpdate", "a:1"), agent(t, "OnDelete", "a:2"))
	plan, err := repair.New(c, options)
	if err != nil || len(plan.Objects) != 1 || len(plan.Objects[0].Changes) != 1 || len(plan.Declined) != 1 {
		t.Fatalf("%+v, %v", plan, err)
	}
	image := repair.Selector{Key: ref.Key, Path: plan.Objects[0].Changes[0].Path.String()}
	if image.String() != "DaemonSet.apps/agent:spec.template.spec.containers[name=a].image" {
		t.Fatalf("planned: %s", image)
	}
	left, err := without(c, plan, options, []repair.Selector{image})
	if err != nil || len(left.Objects) > 0 || len(left.Declined) != 2 {
		t.Fatalf("%+v, %v", left, err)
	}
	for _, d := range left.Declined {
		if d.ID == plan.Declined[0].ID && !strings.Contains(d.Reason, "would restart") {
			t.Errorf("declined: %+v", d)
		}
	}
	if same, err := without(c, plan, options, nil); same != plan || err != nil {
		t.Errorf("without nothing: %+v, %v", same, err)
	}
}

// TestWithoutOrder checks that "no" to the order of a list leaves what is wanted of its items, and the other way round.
func TestWithoutOrder(t *testing.T) {
	pod := func(first, second string) map[string]any {
		var out map[string]any
		text := "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: d}, spec: {selector: {matchLabels: {app: web}}, " +
			"template: {metadata: {labels: {app: web}}, spec: {containers: [" + first + ", " + second + "]}}}}"
		if err := yaml.Unmarshal([]byte(text), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	ref := object.Ref{Key: object.Key{Group: "apps", Kind: "Deployment", Namespace: "d", Name: "web"}, Version: "v1"}
	c := compared(ref, pod("{name: a, image: 'a:1'}", "{name: b, image: 'b:1'}"), pod("{name: b, image: 'b:1'}", "{name: a, image: 'a:2'}"))
	plan, err := repair.New(c, repair.Options{})
	if err != nil || len(plan.Objects) != 1 {
		t.Fatalf("%+v, %v", plan, err)
	}
	parts := partsOf(plan.Result(threeway.Mask{}, nil).Plan[0])
	if len(parts) != 2 {
		t.Fatalf("%d parts of %+v", len(parts), plan.Objects[0].Changes)
	}
	for i, part := range parts {
		left, err := without(c, plan, repair.Options{}, []repair.Selector{selectorOf(plan.Objects[0], part)})
		other := parts[1-i].Fields[0]
		if err != nil || len(left.Objects) != 1 || len(left.Objects[0].Changes) != 1 || left.Objects[0].Changes[0].ID != other.ID {
			t.Errorf("without %s: %+v, %v; want %s", part.Fields[0].Path, left, err, other.Path)
		}
	}
}

package cli

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/choose"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// TestSelectors checks that a repair writes the object that --only chooses, and none of another group that has its kind and name.
func TestSelectors(t *testing.T) {
	in := threeway.Input{
		Name: "r", Namespace: "d", StorageNamespace: "d", Operation: report.OperationDrift, ApplyMethod: report.ApplyClientSide,
		Old: &report.Revision{Revision: 1, Status: "deployed"}, Live: map[object.Ref]cluster.Live{},
	}
	in.Last = in.Old
	for _, version := range []string{"v1", "example.com/v1"} {
		of := func(value string) (out map[string]any) {
			text := "{apiVersion: " + version + ", kind: ConfigMap, metadata: {name: a, namespace: d}, data: {mode: " + value + "}}"
			if err := yaml.Unmarshal([]byte(text), &out); err != nil {
				t.Fatal(err)
			}
			return out
		}
		old := object.Object{Content: of("old")}
		old.Ref = object.RefOf(old.Content)
		live := object.HelmMetadata(of("live"), "r", "d")
		object.Child(live, "metadata")["uid"] = "u"
		in.OldObjects, in.DesiredObjects = append(in.OldObjects, old), append(in.DesiredObjects, old)
		in.Live[old.Ref] = cluster.Live{Object: live}
	}
	c := threeway.Compare(in)
	for only, want := range map[string]string{"cm/a": "", "ConfigMap.example.com/a": "example.com"} {
		choice, err := choose.Parse([]string{only}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var o repair.Options
		o.Only, o.Skip = Selectors(choice.In(c))
		plan, err := repair.New(c, o)
		if err != nil || len(plan.Objects) != 1 || plan.Objects[0].Ref.Group != want {
			t.Errorf("--only %s: %+v, %v", only, plan, err)
		}
	}
}

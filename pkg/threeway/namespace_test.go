package threeway

import (
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestNamespaceConflict checks when an installation with --create-namespace fails on the label of a namespace that exists. The story
// namespace-labelled-by-others.txtar shows it on a real cluster.
func TestNamespaceConflict(t *testing.T) {
	for name, tc := range map[string]struct {
		label  string
		change func(in *Input)
		fails  bool
	}{
		"another value":               {label: "mine", fails: true},
		"another value, with force":   {label: "mine", change: func(in *Input) { in.ForceConflicts = true }, fails: true},
		"records outside the cluster": {label: "mine", change: func(in *Input) { in.Records = "" }, fails: true},
		"the same value":              {label: "d"},
		"client-side":                 {label: "mine", change: func(in *Input) { in.ApplyMethod = report.ApplyClientSide }},
		"without the flag":            {label: "mine", change: func(in *Input) { in.CreateNamespace = false }},
		"no namespace":                {label: "mine", change: func(in *Input) { delete(in.Live, object.NamespaceRef("d")) }},
	} {
		desired := objectsOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
		namespace := objectsOf(t, `
apiVersion: v1
kind: Namespace
metadata:
  name: d
  labels: {name: `+tc.label+`}
  managedFields:
  - {manager: kubectl-label, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:metadata": {"f:labels": {"f:name": {}}}}}
`)
		in := Input{
			Name: "r", Namespace: "d", StorageNamespace: "d", Records: "secrets", Operation: report.OperationInstall, CreateNamespace: true,
			ApplyMethod: report.ApplyServerSide, Desired: &report.Desired{Helm: "4"}, DesiredObjects: desired,
			Live: map[object.Ref]cluster.Live{
				desired[0].Ref:           {Absence: cluster.AbsentObject},
				object.NamespaceRef("d"): {Object: namespace[0].Content},
			},
		}
		if tc.change != nil {
			tc.change(&in)
		}
		o := Compare(in).Objects[0]
		fails := strings.Contains(o.Reason, `conflict with "kubectl-label" using v1: .metadata.labels.name`)
		if fails != tc.fails || fails != (o.Action == report.ActionFail) {
			t.Errorf("%s: %s %s", name, o.Action, o.Reason)
		}
	}
}

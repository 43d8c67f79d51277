package threeway

import (
	"cmp"
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
		label, manager string // manager is kubectl-label if it is empty
		change         func(in *Input)
		fails          bool
	}{
		"another value":               {label: "mine", fails: true},
		"another value, with force":   {label: "mine", change: func(in *Input) { in.ForceConflicts = true }, fails: true},
		"records outside the cluster": {label: "mine", change: func(in *Input) { in.Records = "" }, fails: true},
		"another value of Helm 3":     {label: "mine", manager: "helm", change: func(in *Input) { in.Migrates = true }, fails: true},
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
  - {manager: `+cmp.Or(tc.manager, "kubectl-label")+`, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:metadata": {"f:labels": {"f:name": {}}}}}
`)
		in := intoNamespace(namespace[0].Content, desired...)
		if tc.change != nil {
			tc.change(&in)
		}
		o := Compare(in).Objects[0]
		fails := strings.Contains(o.Reason, `conflict with "`+cmp.Or(tc.manager, "kubectl-label")+`" using v1: .metadata.labels.name`)
		if fails != tc.fails || fails != (o.Action == report.ActionFail) {
			t.Errorf("%s: %s %s", name, o.Action, o.Reason)
		}
	}
}

// intoNamespace is a server-side installation with --create-namespace into a namespace that exists.
func intoNamespace(namespace map[string]any, desired ...object.Object) Input {
	in := Input{
		Name: "r", Namespace: "d", StorageNamespace: "d", Records: "secrets", Operation: report.OperationInstall, CreateNamespace: true,
		ApplyMethod: report.ApplyServerSide, Desired: &report.Desired{Helm: "4"}, DesiredObjects: desired,
		Live: map[object.Ref]cluster.Live{object.NamespaceRef("d"): {Object: namespace}},
	}
	for _, o := range desired {
		in.Live[o.Ref] = cluster.Live{Absence: cluster.AbsentObject}
	}
	return in
}

// TestNamespaceLoses checks that a warning names what an installation with --create-namespace takes from the namespace: what Helm applied to
// it before, and nothing of others.
func TestNamespaceLoses(t *testing.T) {
	namespace := objectsOf(t, `
apiVersion: v1
kind: Namespace
metadata:
  name: d
  labels: {name: d, enforced: "yes", of-a-person: "yes"}
  annotations: {meta.helm.sh/release-name: platform}
  managedFields:
  - {manager: kubectl-label, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:metadata": {"f:labels": {"f:of-a-person": {}}}}}
  - manager: helm
    operation: Apply
    apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1: {"f:metadata": {"f:labels": {"f:name": {}, "f:enforced": {}}, "f:annotations": {"f:meta.helm.sh/release-name": {}}}}
`)
	in := intoNamespace(namespace[0].Content, objectsOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")...)
	c := Compare(in)
	const want = "loses what Helm applied to it before: metadata.labels.enforced, metadata.annotations[\"meta.helm.sh/release-name\"]"
	if len(c.Warnings) != 1 || c.Warnings[0].Code != "namespace-loses" || !strings.HasSuffix(c.Warnings[0].Message, want) {
		t.Errorf("%+v", c.Warnings)
	}
	in.CreateNamespace = false
	if c := Compare(in); len(c.Warnings) != 0 {
		t.Errorf("without the flag: %+v", c.Warnings)
	}
}

// TestRecordFails checks that an operation that cannot store its record has an error if the chart has no object on which Helm would fail.
func TestRecordFails(t *testing.T) {
	namespace := objectsOf(t, "{apiVersion: v1, kind: Namespace, metadata: {name: d, labels: {name: d}}}")
	in := intoNamespace(namespace[0].Content)
	if c := Compare(in); len(c.Errors) != 0 {
		t.Errorf("%+v", c.Errors)
	}
	in.Terminating = map[string]bool{"d": true}
	const want = "the install fails: "
	if c := Compare(in); len(c.Errors) != 1 || c.Errors[0].Code != "record" || !strings.HasPrefix(c.Errors[0].Message, want) {
		t.Errorf("%+v", c.Errors)
	}
	in = intoNamespace(namespace[0].Content, objectsOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")...)
	in.Terminating = map[string]bool{"d": true}
	if c := Compare(in); len(c.Errors) != 0 || c.Objects[0].Action != report.ActionFail {
		t.Errorf("with an object: %s %+v", c.Objects[0].Action, c.Errors)
	}
}

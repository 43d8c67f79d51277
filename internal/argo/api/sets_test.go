package api

import (
	"context"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// told is a cluster with what the controller of ApplicationSets is told.
type told map[string]string

// Read implements deployer.Reader.
func (c told) Read(_ context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := map[object.Ref]cluster.Live{}
	for _, ref := range wanted {
		var live cluster.Live
		if text, found := c[ref.Kind]; found && yaml.Unmarshal([]byte(text), &live.Object) != nil {
			panic(text)
		}
		out[ref] = live
	}
	return out
}

// TestSetController has the parameters of Argo CD, the container of the controller, the applicationsSync of a set, and what the controller
// then may do.
func TestSetController(t *testing.T) {
	for name, c := range map[string]struct {
		parameters, container, own string
		updates, deletes           bool
		says                       string
	}{
		"nothing is told":                {updates: true, deletes: true, says: "the policy sync of its controller"},
		"the set alone":                  {own: "create-only", says: "applicationsSync: create-only"},
		"the set deletes":                {own: "create-delete", deletes: true, says: "applicationsSync: create-delete"},
		"the parameters win":             {parameters: "{applicationsetcontroller.policy: create-update}", own: "sync", updates: true, says: "the policy create-update of its controller"},
		"the set may say otherwise":      {parameters: "{applicationsetcontroller.policy: create-update, applicationsetcontroller.enable.policy.override: 'true'}", own: "sync", updates: true, deletes: true, says: "applicationsSync: sync"},
		"the set must not say otherwise": {parameters: "{applicationsetcontroller.enable.policy.override: 'false'}", own: "create-only", updates: true, deletes: true, says: "the policy sync of its controller"},
		"a flag":                         {container: "{args: [x, --policy=create-only, --enable-policy-override=false]}", own: "sync", says: "the policy create-only of its controller"},
		"a flag in two words":            {container: "{command: [x, --policy, create-only]}", says: "the policy create-only of its controller"},
		"a flag lets the set say so":     {container: "{args: [--policy, create-only]}", own: "sync", updates: true, deletes: true, says: "applicationsSync: sync"},
		"a flag without a value":         {container: "{args: [--policy, create-only, --enable-policy-override]}", own: "sync", updates: true, deletes: true, says: "applicationsSync: sync"},
		"a variable":                     {container: "{env: [{name: ARGOCD_APPLICATIONSET_CONTROLLER_POLICY, value: create-only}]}", own: "sync", says: "the policy create-only of its controller"},
		"a variable in small letters":    {container: "{env: [{name: ARGOCD_APPLICATIONSET_CONTROLLER_policy, value: create-only}]}", updates: true, deletes: true, says: "the policy sync of its controller"},
		"a variable with a dot":          {container: "{env: [{name: ARGOCD_APPLICATIONSET_CONTROLLER_ENABLE.POLICY.OVERRIDE, value: 'false'}]}", own: "create-only", says: "applicationsSync: create-only"},
		"a variable of the parameters": {parameters: "{applicationsetcontroller.policy: create-only}",
			container: "{env: [{name: ARGOCD_APPLICATIONSET_CONTROLLER_POLICY, valueFrom: {configMapKeyRef: {name: argocd-cmd-params-cm, key: applicationsetcontroller.policy}}}]}", says: "the policy create-only of its controller"},
	} {
		from := told{}
		if c.parameters != "" {
			from["ConfigMap"] = "data: " + c.parameters
		}
		if c.container != "" {
			from["Deployment"] = "spec: {template: {spec: {containers: [" + c.container + "]}}}"
		}
		got, err := ReadSetController(t.Context(), from, "argocd")
		if err != nil {
			t.Fatal(err)
		}
		if got.Updates(c.own) != c.updates || got.Deletes(c.own) != c.deletes || got.Says(c.own) != c.says {
			t.Errorf("%s: updates %t, deletes %t, %s", name, got.Updates(c.own), got.Deletes(c.own), got.Says(c.own))
		}
	}
	keeps, err := ReadSetController(t.Context(), told{"ConfigMap": "data: {applicationsetcontroller.global.preserved.labels: 'a, b,'}"}, "argocd")
	if got := keeps.Keeps(Preserved{Labels: []string{"own"}}).Labels; err != nil || !slices.Equal(got, []string{"own", "a", "b"}) {
		t.Error(got, err)
	}
}

// unread is a cluster that does not let anybody read.
type unread struct{}

// Read implements deployer.Reader.
func (unread) Read(_ context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := map[object.Ref]cluster.Live{}
	for _, ref := range wanted {
		out[ref] = cluster.Live{Err: &report.ObjectError{Message: "forbidden"}}
	}
	return out
}

// TestSetControllerIsUnread checks that a controller that cannot be read is no controller without settings.
func TestSetControllerIsUnread(t *testing.T) {
	if _, err := ReadSetController(t.Context(), unread{}, "argocd"); err == nil {
		t.Error("there is no error")
	}
}

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadOnlyRole runs as a user with only get and list.
func TestReadOnlyRole(t *testing.T) {
	t.Parallel()
	c := newCase(t, suite.cluster)
	must(t, c.helm(false, "install", "web"))
	must(t, c.scale("deployment/web", "5"))
	must(t, c.grant("reader-"+c.ns, "*", "*"))
	out, err := c.diff(c.release, "--kube-as-user", "reader-"+c.ns)
	must(t, err)
	want(t, out, 2, `Deployment web: update drifted
  overwrite/drift spec.replicas old=2 desired=2 live=5 by:kubectl(scale)`)
}

// TestForbiddenKind runs with a role that lacks one kind. That is an error on its objects and exit code 1, and all others are compared.
// The warnings are about both kinds of autoscalers, which the role may not read, and about the pods that one of them may start again.
func TestForbiddenKind(t *testing.T) {
	t.Parallel()
	c := newCase(t, suite.cluster)
	must(t, c.helm(false, "install", "web"))
	must(t, c.scale("deployment/web", "5"))
	user := "partial-" + c.ns
	must(t, c.grant(user+"-a", "apps", "deployments"))
	must(t, c.grant(user+"-b", "", "secrets", "services"))
	must(t, c.grant(user+"-c", "policy", "poddisruptionbudgets"))
	out, err := c.diff(c.release, "--kube-as-user", user, "--kube-as-group", user+"-a", "--kube-as-group", user+"-b", "--kube-as-group", user+"-c")
	must(t, err)
	want(t, out, 1, `warning forbidden
warning forbidden
warning effects-unread
ConfigMap settings: none error=forbidden
Deployment web: update drifted
  overwrite/drift spec.replicas old=2 desired=2 live=5 by:kubectl(scale)`)
	out, err = c.diff(c.release, "--kube-as-user", user, "--kube-as-group", user+"-a", "--kube-as-group", user+"-b", "--kube-as-group", user+"-c", "--fail-on", "none")
	must(t, err)
	if out.exit != 1 {
		t.Errorf("--fail-on none ends with %d and hides what could not be read", out.exit)
	}
}

// TestForbiddenRecords runs as a user who may not even read the records.
func TestForbiddenRecords(t *testing.T) {
	t.Parallel()
	c := newCase(t, suite.cluster)
	must(t, c.helm(false, "install", "web"))
	out, err := c.diff(c.release, "--kube-as-user", "nobody")
	must(t, err)
	if out.exit != 1 || !strings.Contains(out.stderr, "forbidden") {
		t.Errorf("exit %d\n%s%s", out.exit, out.stdout, out.stderr)
	}
}

// grant allows a user, or a group of that name, to get and list resources in the story's namespace, and to get that namespace.
func (c *Case) grant(name, group string, resources ...string) error {
	return c.grantVerbs(name, "get, list", group, resources...)
}

// grantVerbs allows verbs other than get and list.
func (c *Case) grantVerbs(name, verbs, group string, resources ...string) error {
	quoted := `["` + strings.Join(resources, `", "`) + `"]`
	return c.cluster.create(context.Background(), `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: `+name+`}
rules: [{apiGroups: ["`+group+`"], resources: `+quoted+`, verbs: [`+verbs+`]}, {apiGroups: [""], resources: [namespaces], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: `+name+`}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: `+name+`}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: `+name+`}, {kind: Group, apiGroup: rbac.authorization.k8s.io, name: `+name+`}]
`, c.ns, "kubectl-create")
}

// TestForbiddenAutoscalers scales a Deployment to 0 whose replicas the chart leaves to an autoscaler. That is drift, and for a role that
// may not list autoscalers it is an error, not a clean release. Autoscalers of KEDA stay forbidden: that costs a warning.
func TestForbiddenAutoscalers(t *testing.T) {
	t.Parallel()
	c := newCase(t, suite.cluster)
	must(t, os.WriteFile(filepath.Join(c.dir, "scaled.yaml"), []byte(`apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: "nginx:1.25"}]}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {minReplicas: 2, maxReplicas: 5, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
`), 0o600))
	must(t, c.helm(false, "install", "scaled.yaml"))
	must(t, c.scale("deployment/web", "0"))
	user := "no-lists-" + c.ns
	must(t, c.grant(user+"-a", "apps", "deployments"))
	must(t, c.grant(user+"-b", "", "secrets"))
	must(t, c.grantVerbs(user+"-c", "get", "autoscaling", "horizontalpodautoscalers"))
	as := []string{"--kube-as-user", user, "--kube-as-group", user + "-a", "--kube-as-group", user + "-b", "--kube-as-group", user + "-c"}
	finding := `Deployment web: none drifted
  ignore/drift spec.replicas old=1 desired=1 live=0`
	out, err := c.diff()
	must(t, err)
	want(t, out, 2, finding)
	out, err = c.diff(as...)
	must(t, err)
	want(t, out, 1, `warning forbidden
warning forbidden
error autoscalers-unread Deployment.apps `+c.ns+`/web
Deployment web: none
  ignore/drift spec.replicas old=1 desired=1 live=0 unmanaged`)
	must(t, c.grant(user+"-d", "autoscaling", "horizontalpodautoscalers"))
	out, err = c.diff(append(as, "--kube-as-group", user+"-d")...)
	must(t, err)
	want(t, out, 2, "warning forbidden\n"+finding)
}

// TestForbiddenNamespace compares an untouched release whose namespace may not be read. Somebody may be deleting it with all its objects,
// so the release must not look clean.
func TestForbiddenNamespace(t *testing.T) {
	t.Parallel()
	c := newCase(t, suite.cluster)
	must(t, c.helm(false, "install", "web"))
	out, err := c.diff()
	must(t, err)
	want(t, out, 0, "")
	c.proxy.deny(requestOf("GET /api/v1/namespaces/" + c.ns).matches)
	out, err = c.diff()
	must(t, err)
	want(t, out, 1, "error forbidden")
}

// TestForbiddenDefinition upgrades a custom resource to a value that its schema refuses. A role that may not read the definition does not
// know that, nor whether a difference is a default.
func TestForbiddenDefinition(t *testing.T) {
	t.Parallel()
	c := newCase(t, suite.cluster)
	thing := "{apiVersion: ex.com/v1, kind: Thing, metadata: {name: demo}, spec: {max: MAX, min: 1}}"
	for name, most := range map[string]string{"old.yaml": "10", "new.yaml": "many"} {
		must(t, os.WriteFile(filepath.Join(c.dir, name), []byte(strings.ReplaceAll(thing, "MAX", most)), 0o600))
	}
	must(t, c.helm(false, "install", "old.yaml"))
	chart, err := c.chart("new.yaml")
	must(t, err)
	out, err := c.diff(c.release, chart)
	must(t, err)
	if out.exit != 2 || len(out.report.failing()) != 1 {
		t.Errorf("for an administrator: exit %d\n%s", out.exit, out.stdout)
	}
	c.proxy.deny(requestOf("GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.ex.com").matches)
	out, err = c.diff(c.release, chart)
	must(t, err)
	if out.exit != 1 || !strings.Contains(out.stdout, `"code": "definition-unread"`) {
		t.Errorf("without the definition: exit %d\n%s", out.exit, out.stdout)
	}
	must(t, c.patch("kubectl-edit", "things.ex.com/demo", "{spec: {max: 30}}"))
	out, err = c.diff()
	must(t, err)
	want(t, out, 1, `warning forbidden Thing.ex.com
error definition-unread Thing.ex.com `+c.ns+`/demo
Thing demo: none drifted
  ignore/drift spec.max old=10 desired=10 live=30 by:kubectl-edit`)
}

// TestForbiddenDefinitionWithoutStatus edits the status of a custom resource whose kind has no status subresource. The definition may not
// be read. Discovery says that there is no subresource, so the edit is drift.
func TestForbiddenDefinitionWithoutStatus(t *testing.T) {
	t.Parallel()
	c := newCase(t, suite.cluster)
	group := c.ns + ".ex.com"
	must(t, c.cluster.create(context.Background(), `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cogs.`+group+`}
spec:
  group: `+group+`
  scope: Namespaced
  names: {plural: cogs, singular: cog, kind: Cog}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`, "", "kubectl-create"))
	must(t, c.cluster.waitUntilServed(context.Background(), group+"/v1", "cogs"))
	must(t, os.WriteFile(filepath.Join(c.dir, "cog.yaml"),
		[]byte("{apiVersion: "+group+"/v1, kind: Cog, metadata: {name: c}, spec: {max: 1}, status: {phase: new}}\n"), 0o600))
	must(t, c.helm(false, "install", "cog.yaml"))
	must(t, c.patch("kubectl-edit", "cogs.v1."+group+"/c", "{status: {phase: edited}}"))
	finding := `Cog c: none drifted
  ignore/drift status.phase old="new" desired="new" live="edited" by:kubectl-edit`
	out, err := c.diff()
	must(t, err)
	want(t, out, 2, finding)
	c.proxy.deny(requestOf("GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/cogs." + group).matches)
	out, err = c.diff()
	must(t, err)
	want(t, out, 1, `warning forbidden Cog.`+group+`
error definition-unread Cog.`+group+` `+c.ns+`/c
`+finding)
}

// TestForbiddenPods upgrades a Service to a selector that selects nothing. It led to pods of another release. A role that may not list
// pods does not see that, and the gate on downtime says so.
func TestForbiddenPods(t *testing.T) {
	t.Parallel()
	c := newCase(t, suite.cluster)
	must(t, c.cluster.create(context.Background(), `apiVersion: apps/v1
kind: Deployment
metadata: {name: other}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: "nginx:1.25"}]}}
`, c.ns, "kubectl-create"))
	service := `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: SELECTOR}, ports: [{port: 80}]}}`
	for name, selector := range map[string]string{"before.yaml": "web", "after.yaml": "typo"} {
		must(t, os.WriteFile(filepath.Join(c.dir, name), []byte(strings.ReplaceAll(service, "SELECTOR", selector)), 0o600))
	}
	must(t, c.helm(false, "install", "before.yaml"))
	other, err := c.ref("deployment/other")
	must(t, err)
	must(t, await(c, other, []string{"status.readyReplicas", "2"}))
	user := "no-pods-" + c.ns
	must(t, c.grant(user+"-a", "", "secrets", "services"))
	as := []string{"--kube-as-user", user, "--kube-as-group", user + "-a"}
	chart, err := c.chart("after.yaml")
	must(t, err)
	diff := func(args ...string) binaryRun {
		t.Helper()
		out, err := c.diff(append([]string{c.release, chart}, args...)...)
		must(t, err)
		return out
	}
	if out := diff("--fail-on", "downtime"); out.exit != 2 || !out.report.objects()[0].Effect.Downtime {
		t.Errorf("for an administrator: exit %d\n%s", out.exit, out.stdout)
	}
	for _, gate := range []string{"downtime", "restart", "drift,restart"} {
		out := diff(append(as, "--fail-on", gate)...)
		if out.exit != 1 || out.report.objects()[0].Effect == nil || out.report.objects()[0].Effect.Inexact == "" {
			t.Errorf("--fail-on %s without the right to list pods: exit %d\n%s", gate, out.exit, out.stdout)
		}
	}
	if out := diff(append(as, "--fail-on", "drift")...); out.exit != 0 {
		t.Errorf("--fail-on drift does not depend on pods: exit %d\n%s", out.exit, out.stdout)
	}
	must(t, c.grant(user+"-b", "", "pods"))
	if out := diff(append(as, "--kube-as-group", user+"-b", "--fail-on", "downtime")...); out.exit != 2 {
		t.Errorf("with the right to list pods: exit %d\n%s", out.exit, out.stdout)
	}
}

// TestForbiddenVolumes upgrades to a chart without a StatefulSet whose claims go with it. That restarts no pod. A role that may not list
// volumes does not see what is lost for good. Its forecast is incomplete, so each gate that depends on the forecast says so.
func TestForbiddenVolumes(t *testing.T) {
	t.Parallel()
	c := newCase(t, suite.cluster)
	beside := "{apiVersion: v1, kind: ConfigMap, metadata: {name: beside}}\n"
	must(t, os.WriteFile(filepath.Join(c.dir, "after.yaml"), []byte(beside), 0o600))
	must(t, os.WriteFile(filepath.Join(c.dir, "before.yaml"), []byte(beside+`---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 1
  serviceName: db
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: "nginx:1.25"}]}}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
`), 0o600))
	must(t, c.helm(false, "install", "before.yaml"))
	user := "no-volumes-" + c.ns
	must(t, c.grant(user+"-a", "", "secrets", "configmaps", "pods"))
	must(t, c.grant(user+"-b", "apps", "statefulsets"))
	as := []string{"--kube-as-user", user, "--kube-as-group", user + "-a", "--kube-as-group", user + "-b"}
	chart, err := c.chart("after.yaml")
	must(t, err)
	for _, test := range []struct {
		gate string
		args []string
		exit int
	}{
		{"restart", nil, 0}, {"restart", as, 1}, {"downtime", as, 1}, {"drift", as, 0},
	} {
		out, err := c.diff(append([]string{c.release, chart, "--fail-on", test.gate}, test.args...)...)
		must(t, err)
		if out.exit != test.exit || strings.Contains(out.stdout, `"inexact": "volumes may not be listed"`) != (test.args != nil) {
			t.Errorf("--fail-on %s %q: exit %d\n%s%s", test.gate, test.args, out.exit, out.stdout, out.stderr)
		}
	}
	must(t, c.cluster.create(context.Background(), `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: `+user+`}
rules: [{apiGroups: [""], resources: [persistentvolumes], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: `+user+`}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: `+user+`}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: `+user+`}]
`, "", "kubectl-create"))
	out, err := c.diff(append([]string{c.release, chart, "--fail-on", "restart"}, as...)...)
	must(t, err)
	if out.exit != 0 {
		t.Errorf("with the right to list volumes: exit %d\n%s", out.exit, out.stdout)
	}
}

package e2e

import (
	"context"
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
// The warnings are about both kinds of autoscalers, which the role may not read.
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

// grant allows a user, or a group of that name, to get and list resources in the story's namespace.
func (c *Case) grant(name, group string, resources ...string) error {
	quoted := `["` + strings.Join(resources, `", "`) + `"]`
	return c.cluster.create(context.Background(), `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: `+name+`}
rules: [{apiGroups: ["`+group+`"], resources: `+quoted+`, verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: `+name+`}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: `+name+`}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: `+name+`}, {kind: Group, apiGroup: rbac.authorization.k8s.io, name: `+name+`}]
`, c.ns, "kubectl-create")
}

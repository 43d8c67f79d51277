package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"helm.sh/helm/v3/pkg/release"
)

// testContexts scans two clusters. One does not answer.
func testContexts(c *fleetCluster) {
	c.fill()
	live, err := os.ReadFile(c.proxy.kubeconfig)
	must(c.t, err)
	text := strings.NewReplacer(
		"clusters: [", "clusters: [{name: dead, cluster: {server: \"https://127.0.0.1:1\"}}, ",
		"contexts: [", "contexts: [{name: dead, context: {cluster: dead, user: \"\"}}, {name: again, context: {cluster: test, user: \"\"}}, ",
	).Replace(string(live))
	both := filepath.Join(c.dir, "both")
	must(c.t, os.WriteFile(both, []byte(text), 0o600))
	want := c.mustScan(c.t, 2, "-A")
	for _, flags := range []string{"--contexts=test,dead", "--all-contexts"} {
		got, err := c.runFor(context.Background(), both, "diff", "-A", "-o", "json", flags)
		must(c.t, err)
		if got.exit != 1 || len(got.Errors) != 1 || got.Errors[0].Cluster != "dead" || got.Errors[0].Code != "connection" {
			c.t.Errorf("%s: exit %d, errors %v\n%s", flags, got.exit, got.Errors, got.stderr)
		}
		if len(got.Releases) != len(want.Releases) || len(got.Scan.Clusters) != 1 {
			c.t.Errorf("%s: %d releases of clusters %v, not %d", flags, len(got.Releases), got.Scan.Clusters, len(want.Releases))
		}
		if _, err := got.byID(); err != nil {
			c.t.Errorf("%s: %v", flags, err)
		}
	}
	alone, err := c.runFor(context.Background(), both, "diff", "-A", "-o", "json", "--contexts=dead")
	must(c.t, err)
	if alone.exit != 1 || !strings.Contains(alone.stdout+alone.stderr, "127.0.0.1:1") {
		c.t.Errorf("exit %d\n%s%s", alone.exit, alone.stdout, alone.stderr)
	}
}

// testRoles scans with roles that may not read everything. What they may not search is an error of its own, and the rest is right.
func testRoles(c *fleetCluster) {
	for _, namespace := range []string{"team-a", "team-b", "team-closed"} {
		c.install(namespace, "clean", configMap("m", "1"))
		must(c.t, c.install(namespace, "edited", configMap("other", "1")).patch("kubectl-edit", "configmap/other", "{data: {k: other}}"))
	}
	must(c.t, c.on.create(context.Background(), `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: all-but-secrets}
rules:
- {apiGroups: [""], resources: [configmaps, namespaces, services, serviceaccounts], verbs: [get, list]}
- {apiGroups: [apps, autoscaling, batch, apiextensions.k8s.io], resources: ["*"], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: namespace-reader}
rules: [{apiGroups: [""], resources: [namespaces], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: everything}
rules: [{apiGroups: ["*"], resources: ["*"], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: secrets}
rules: [{apiGroups: [""], resources: [secrets], verbs: [get, list]}]
`+clusterBinding("wide", "all-but-secrets")+clusterBinding("narrow", "namespace-reader"), "", "kubectl-create"))
	for _, namespace := range []string{"team-a", "team-b"} {
		must(c.t, c.on.create(context.Background(), binding("wide", "secrets", namespace)+binding("narrow", "everything", namespace)+
			binding("blind", "everything", namespace), namespace, "kubectl-create"))
	}
	allowed := func(namespace string) string { return namespace + "/clean clean\n" + namespace + "/edited drifted\n" }

	// One namespace may not be searched, and with the narrow role no list goes across namespaces.
	for _, user := range []string{"wide", "narrow"} {
		got := c.mustScan(c.t, 1, "-A", "--kube-as-user", serviceAccount(user))
		closed := ""
		for _, e := range got.Errors {
			if e.Code != "forbidden" || e.Namespace == "team-a" || e.Namespace == "team-b" {
				c.t.Errorf("%s: %+v", user, e)
			}
			if e.Namespace == "team-closed" {
				closed = e.Message
			}
		}
		if closed == "" || strings.Count(closed, "secrets") == 0 {
			c.t.Errorf("%s: team-closed is not among the errors, or without its reason: %q", user, closed)
		}
		got.Errors = nil
		wantStates(c.t, got, allowed("team-a")+allowed("team-b"))
		c.aloneAs(got, user)
	}

	// A role that may not list namespaces sees the one that it is asked for.
	got := c.mustScan(c.t, 1, "-A", "-n", "team-a", "--kube-as-user", serviceAccount("blind"))
	wantStates(c.t, got, allowed("team-a")+"!  forbidden\n")
	if message := fmt.Sprint(got.Errors); !strings.Contains(message, "only namespace team-a") {
		c.t.Error(message)
	}
	wantStates(c.t, c.mustScan(c.t, 2, "-n", "team-a", "--kube-as-user", serviceAccount("blind")), allowed("team-a"))
	nothing, err := c.run("diff", "-A", "-n", "team-closed", "-o", "json", "--kube-as-user", serviceAccount("blind"))
	must(c.t, err)
	if nothing.exit != 1 || !strings.Contains(nothing.stdout+nothing.stderr, "forbidden") {
		c.t.Errorf("exit %d\n%s%s", nothing.exit, nothing.stdout, nothing.stderr)
	}
}

// aloneAs compares the releases of a scan by a service account with those that the account sees one by one.
func (c *fleetCluster) aloneAs(scan scanRun, user string) {
	c.t.Helper()
	for _, release := range scan.Releases {
		id := idOf(release)
		alone, err := c.run("diff", id.name, "-n", id.namespace, "-o", "json", "--kube-as-user", serviceAccount(user))
		must(c.t, err)
		if difference := differenceOf(release, alone); difference != "" {
			c.t.Errorf("%s as %s (-alone +fleet):\n%s", id, user, difference)
		}
	}
}

func serviceAccount(name string) string { return "system:serviceaccount:default:" + name }

func clusterBinding(account, role string) string {
	return fmt.Sprintf("---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: %[1]s}\n"+
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[2]s}\n"+
		"subjects: [{kind: ServiceAccount, namespace: default, name: %[1]s}]\n", account, role)
}

func binding(account, role, namespace string) string {
	return strings.NewReplacer("kind: ClusterRoleBinding", "kind: RoleBinding",
		"metadata: {name: "+account+"}", "metadata: {name: "+account+", namespace: "+namespace+"}").Replace(clusterBinding(account, role))
}

// testEntriesWithErrors scans releases that cannot be compared, each for another reason. Each reason is an error of its own entry, and
// the neighbouring entries are right.
func testEntriesWithErrors(c *fleetCluster) {
	c.install("bad-a", "fine", configMap("fine", "1"))
	must(c.t, c.install("bad-b", "edited", configMap("edited", "1")).patch("kubectl-edit", "configmap/edited", "{data: {k: other}}"))

	c.install("bad-a", "broken", configMap("broken", "1"))
	c.edit(ref{"secret", "bad-a", "sh.helm.release.v1.broken.v1"}, "{data: {release: bm90IGEgcmVjb3Jk}}")
	c.install("bad-a", "relabelled", configMap("relabelled", "1"))
	c.edit(ref{"secret", "bad-a", "sh.helm.release.v1.relabelled.v1"}, "{metadata: {labels: {version: one}}}")
	c.install("bad-a", "nameless", configMap("nameless", "1"))
	c.edit(ref{"secret", "bad-a", "sh.helm.release.v1.nameless.v1"}, "{metadata: {labels: {name: null}}}")

	must(c.t, c.forgeStatus(c.install("bad-b", "pending", configMap("pending", "1")), release.StatusPendingUpgrade))
	_, err := c.install("bad-b", "gone", configMap("gone", "1")).run(helmCall{verb: "uninstall"}) // its history is kept
	must(c.t, err)

	c.install("bad-b", "first", configMap("both", "1"))
	c.install("bad-b", "second", configMap("both", "2"), "--take-ownership")

	c.withoutDefinition()
	c.withoutBackend()

	got := c.mustScan(c.t, 1, "-A", "--filter", ".", "--exclude", "-0|^clean$")
	kept := scanRun{args: got.args, scanReport: scanReport{Errors: got.Errors}}
	for _, release := range got.Releases {
		if strings.HasPrefix(idOf(release).namespace, "bad-") {
			kept.Releases = append(kept.Releases, release)
		}
	}
	wantStates(c.t, kept, `bad-a/broken error release
bad-a/fine clean
bad-a/relabelled error release
bad-b/edited drifted
bad-b/first drifted
bad-b/pending error release
bad-b/second clean
bad-c/orphan drifted
bad-d/backend error discovery
! bad-a record
`)
	c.equalToReleases("-A", "--exclude", "-0|^clean$|^r[0-9]$")
	c.equalToReleases("-n", "bad-a")
	c.equalToReleases("-n", "bad-b", "--status", "deployed,uninstalled,pending-upgrade")
	wantStates(c.t, c.mustScan(c.t, 1, "gone,edited", "-n", "bad-b"), "bad-b/edited drifted\nbad-b/gone error release\n")
}

// forgeStatus gives the last record another status.
func (c *fleetCluster) forgeStatus(on *Case, status release.Status) error {
	return on.forge(func(r *release.Release) { r.Info.Status = status })
}

// withoutDefinition installs a custom resource and deletes the definition of its kind.
func (c *fleetCluster) withoutDefinition() {
	c.t.Helper()
	must(c.t, c.on.create(context.Background(), `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.gone.ex.com}
spec:
  group: gone.ex.com
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets, singular: gadget, listKind: GadgetList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, "", "kubectl-create"))
	definition := ref{resource: "customresourcedefinition", name: "gadgets.gone.ex.com"}
	must(c.t, c.on.waitUntilDefined(context.Background(), definition.name))
	c.install("bad-c", "orphan", "apiVersion: gone.ex.com/v1\nkind: Gadget\nmetadata: {name: g}\nspec: {a: 1}\n"+configMap("beside", "1"))
	must(c.t, c.on.delete(context.Background(), definition))
	must(c.t, c.on.waitUntilGone(context.Background(), definition))
	must(c.t, c.on.waitUntilUnserved(context.Background(), "gone.ex.com/v1"))
}

// withoutBackend installs an aggregated API whose server does not exist, and a release with an object of it.
func (c *fleetCluster) withoutBackend() {
	c.t.Helper()
	out := c.release("bad-d", "backend")
	must(c.t, out.helm(false, "install", "apiservice"))
	must(c.t, c.on.waitFor(context.Background(), ref{resource: "apiservice", name: "v1.dead.ex.com"}, "Available=False", isUnavailable))
	must(c.t, out.forge(func(r *release.Release) {
		r.Manifest += "---\napiVersion: dead.ex.com/v1\nkind: Thing\nmetadata: {name: t}\n"
	}))
}

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

const (
	deployNamespace = "helmdrift"
	deployUser      = "system:serviceaccount:helmdrift:helmdrift"
)

// deployGroups are the groups of a service account.
var deployGroups = []string{"system:serviceaccounts", "system:serviceaccounts:helmdrift", "system:authenticated"}

// TestDeploy installs the account of deploy/kubernetes, checks all manifests of that folder on the API server, and runs the Job and the
// CronJob.
func TestDeploy(t *testing.T) {
	c := newCase(t, suite.cluster)
	ctx := context.Background()
	for _, file := range []string{"namespace.yaml", "rbac.yaml", "networkpolicy.yaml"} {
		text := deployFile(t, file)
		t.Cleanup(func() {
			_ = c.cluster.eachObject(text, deployNamespace, func(client dynamic.ResourceInterface, obj *unstructured.Unstructured) error {
				_ = client.Delete(ctx, obj.GetName(), metav1.DeleteOptions{})
				return nil
			})
		})
		must(t, c.cluster.create(ctx, text, deployNamespace, "kubectl-create"))
	}
	role := ref{resource: "clusterrole", name: "helmdrift"}
	must(t, c.cluster.waitFor(ctx, role, "aggregated rules", func(obj *unstructured.Unstructured) bool {
		rules, _, _ := unstructured.NestedSlice(obj.Object, "rules")
		return len(rules) > 0
	}))
	t.Run("pods", func(t *testing.T) { checkDeployedPods(t, c) })
	t.Run("reads", func(t *testing.T) { checkDeployedReads(t, c) })
	t.Run("writes", func(t *testing.T) { checkDeployedWrites(t, c) })
	t.Run("diff", func(t *testing.T) { checkDeployedDiff(t, c) })
	t.Run("jobs", func(t *testing.T) { checkDeployedJobs(t, c) })
}

func deployFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../deploy/kubernetes", name))
	must(t, err)
	return string(text)
}

// checkDeployedPods tries to create the CronJob and the Job, and the pods that controllers would make of them. The namespace admits only
// pods of the restricted profile, which one without any security context shows.
func checkDeployedPods(t *testing.T, c *Case) {
	try := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
	for file, template := range map[string][]string{
		"cronjob.yaml": {"spec", "jobTemplate", "spec", "template", "spec"},
		"job.yaml":     {"spec", "template", "spec"},
	} {
		err := c.cluster.eachObject(deployFile(t, file), deployNamespace, func(client dynamic.ResourceInterface, obj *unstructured.Unstructured) error {
			if _, err := client.Create(context.Background(), obj, try); err != nil {
				return err
			}
			spec, _, err := unstructured.NestedMap(obj.Object, template...)
			if err != nil {
				return err
			}
			if err := createPod(c, spec, try); err != nil {
				return err
			}
			delete(spec, "securityContext")
			if err := createPod(c, spec, try); !apierrors.IsForbidden(err) {
				return fmt.Errorf("a pod without a security context: %v, want a refusal", err)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func createPod(c *Case, spec map[string]any, options metav1.CreateOptions) error {
	pod := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "helmdrift", "namespace": deployNamespace}, "spec": spec,
	}}
	_, err := c.cluster.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace(deployNamespace).
		Create(context.Background(), pod, options)
	return err
}

// unread are built-in kinds that charts do not create, so the account needs no right to read them.
var unread = []string{
	"componentstatuses", "csinodes", "events", "nodes", "podcertificaterequests", "storageversions", "storageversionmigrations", "volumeattachments",
}

// checkDeployedReads asks the API server about every built-in kind that can be read: the account may get and list it.
func checkDeployedReads(t *testing.T, c *Case) {
	checked := 0
	for _, r := range servedResources(t, c) {
		builtIn := !strings.Contains(r.Group, ".") || strings.HasSuffix(r.Group, ".k8s.io")
		if !builtIn || strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "get") || !slices.Contains(r.Verbs, "list") {
			continue
		}
		checked++
		for _, verb := range []string{"get", "list"} {
			if want := !slices.Contains(unread, r.Name); deployMay(t, c, verb, r) != want {
				t.Errorf("may %s %s.%s: want %v", verb, r.Name, r.Group, want)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d kinds are served", checked)
	}
}

// checkDeployedWrites asks about every other verb of everything that is served, subresources included: the account has none, except that
// everybody may ask what the own rights are.
func checkDeployedWrites(t *testing.T, c *Case) {
	checked := 0
	for _, r := range servedResources(t, c) {
		if strings.HasPrefix(r.Name, "selfsubject") {
			continue
		}
		subresource := strings.Contains(r.Name, "/")
		for _, verb := range []string{"get", "create", "update", "patch", "delete", "deletecollection", "watch"} {
			if verb == "get" && !subresource || verb != "get" && !slices.Contains(r.Verbs, verb) {
				continue
			}
			checked++
			if deployMay(t, c, verb, r) {
				t.Errorf("may %s %s.%s", verb, r.Name, r.Group)
			}
		}
	}
	for _, verb := range []string{"bind", "escalate", "impersonate"} {
		for _, name := range []string{"clusterroles", "serviceaccounts"} {
			if deployMay(t, c, verb, metav1.APIResource{Group: "rbac.authorization.k8s.io", Name: name}) {
				t.Errorf("may %s %s", verb, name)
			}
		}
	}
	if checked < 300 {
		t.Errorf("only %d rights were asked for", checked)
	}

	config := rest.CopyConfig(c.cluster.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: deployUser, Groups: deployGroups}
	client, err := dynamic.NewForConfig(config)
	must(t, err)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "written"},
	}}
	_, err = client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(c.ns).
		Create(context.Background(), object, metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("the account creates a ConfigMap: %v", err)
	}
}

// servedResources returns everything that the API server serves. A group that another test has broken is left out.
func servedResources(t *testing.T, c *Case) (out []metav1.APIResource) {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(c.cluster.Config)
	must(t, err)
	_, lists, err := client.ServerGroupsAndResources()
	if !discovery.IsGroupDiscoveryFailedError(err) {
		must(t, err)
	}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		must(t, err)
		for _, r := range list.APIResources {
			r.Group = gv.Group
			out = append(out, r)
		}
	}
	return out
}

// deployMay asks the API server whether the account has a right in all namespaces.
func deployMay(t *testing.T, c *Case, verb string, r metav1.APIResource) bool {
	t.Helper()
	resource, subresource, _ := strings.Cut(r.Name, "/")
	groups := make([]any, len(deployGroups))
	for i, name := range deployGroups {
		groups[i] = name
	}
	review := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
		"spec": map[string]any{"user": deployUser, "groups": groups, "resourceAttributes": map[string]any{
			"verb": verb, "group": r.Group, "resource": resource, "subresource": subresource,
		}},
	}}
	answer, err := c.cluster.Client.Resource(schema.GroupVersionResource{
		Group: "authorization.k8s.io", Version: "v1", Resource: "subjectaccessreviews",
	}).Create(context.Background(), review, metav1.CreateOptions{})
	must(t, err)
	allowed, _, _ := unstructured.NestedBool(answer.Object, "status", "allowed")
	return allowed
}

// checkDeployedDiff compares a release as the account, by itself and in all shards of job.yaml. One of the shards has it. The reports
// have no error, and no warning about something that could not be read.
func checkDeployedDiff(t *testing.T, c *Case) {
	c.release = "deployed"
	must(t, c.helm(false, "install", "web"))
	must(t, c.scale("deployment/web", "5"))
	as := []string{"--kube-as-user", deployUser}
	for _, name := range deployGroups {
		as = append(as, "--kube-as-group", name)
	}
	const drifted = `Deployment web: update drifted
  overwrite/drift spec.replicas old=2 desired=2 live=5 by:kubectl(scale)`
	out, err := c.diff(append([]string{c.release}, as...)...)
	must(t, err)
	want(t, out, 2, drifted)

	metrics, err := c.binary(append([]string{"diff", c.release, "-o", "prometheus"}, as...)...)
	must(t, err)
	for _, line := range []string{
		`helmdrift_release_drifted{cluster="test",namespace="` + c.ns + `",release="` + c.release + `"} 1`, `helmdrift_errors{cluster="test"} 0`,
	} {
		if !strings.Contains(metrics.stdout, line+"\n") {
			t.Errorf("no %s\n%s%s", line, metrics.stdout, metrics.stderr)
		}
	}

	found := 0
	for index := range 4 {
		c.env["JOB_COMPLETION_INDEX"], c.env["HELMDRIFT_SHARDS"] = fmt.Sprint(index), "4"
		args := append(jobArguments(t), "--filter", "^"+c.release+"$")
		out, err := c.binary(append(args, as...)...)
		must(t, err)
		out.report, err = decodeReport(out.stdout)
		must(t, err)
		if out.exit == 2 {
			found++
			want(t, out, 2, drifted)
		} else {
			want(t, out, 0, "")
		}
	}
	if found != 1 {
		t.Errorf("%d shards have the release", found)
	}
}

// jobArguments returns the arguments of the container of job.yaml.
func jobArguments(t *testing.T) []string {
	t.Helper()
	objects, err := decodeObjects(deployFile(t, "job.yaml"))
	must(t, err)
	containers, _, err := unstructured.NestedSlice(objects[0].Object, "spec", "template", "spec", "containers")
	must(t, err)
	args, _, err := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
	must(t, err)
	return args
}

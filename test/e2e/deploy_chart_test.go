package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	action3 "helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	lint3 "helm.sh/helm/v3/pkg/lint/support"
	"helm.sh/helm/v3/pkg/strvals"
	action4 "helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	loader4 "helm.sh/helm/v4/pkg/chart/loader"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// deployedChart is the chart, seen from testdata/charts, where the charts of stories are.
const deployedChart = "../../../../deploy/chart/helmdrift"

// likeKubernetes are the values that make the chart equal to deploy/kubernetes.
const likeKubernetes = "image.repository=helmdrift-with-curl,image.tag=set-your-image,clusterName=set-your-cluster," +
	"metrics.mode=pushgateway,metrics.pushgateway.url=http://pushgateway.monitoring.svc:9091"

// chartValues are sets of values that use all of the chart.
func chartValues() map[string]string {
	return map[string]string{
		"default":     "",
		"pushgateway": likeKubernetes,
		"textfile":    "metrics.mode=textfile,metrics.textfile.volume.hostPath.path=/var/lib/metrics,fsGroup=2000,output=json",
		"namespaces": "rbac.scope=namespaces,rbac.namespaces={shop,stage},rbac.customResources[0].apiGroup=ex.com," +
			"rbac.customResources[0].resources={widgets},metrics.mode=pushgateway,metrics.pushgateway.url=http://gateway,clusterName=c",
		"everything": "image.pullPolicy=Always,imagePullSecrets[0].name=pull,clusterName=prod,timeZone=Europe/Berlin,suspend=true," +
			"selection.selector=team=a,selection.filter=^web,selection.exclude=test$,selection.status={deployed,failed},failOn=+change," +
			"extraArgs={--request-timeout,10s},env[0].name=HELM_DRIVER,env[0].value=configmap,config.ignore[0].paths={/spec/replicas}," +
			"rbac.customResources[0].apiGroup=cert-manager.io,rbac.customResources[0].resources={certificates},serviceAccount.name=other," +
			"serviceAccount.annotations.a=b,runAsUser=null,podAnnotations.a=b,podLabels.a=b,nodeSelector.a=b,tolerations[0].key=a," +
			"tolerations[0].operator=Exists,affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution=null,priorityClassName=low",
		"narrow": "networkPolicy.apiServer.cidrs={10.0.0.1/32},networkPolicy.apiServer.ports={8443},metrics.mode=pushgateway,clusterName=c," +
			"metrics.pushgateway.url=https://10.0.0.9,networkPolicy.egress[0].ports[0].port=5432",
		"no rights": "rbac.create=false,serviceAccount.create=false,serviceAccount.name=mine",
	}
}

// renderChart renders the chart with Helm 3, or Helm 4, as release helmdrift in namespace helmdrift.
func renderChart(by4 bool, set string) (string, error) {
	values := map[string]any{}
	if err := strvals.ParseInto(set, values); err != nil {
		return "", err
	}
	path := filepath.Join("testdata", "charts", deployedChart)
	if by4 {
		chart, err := loader4.Load(path)
		if err != nil {
			return "", err
		}
		install := action4.NewInstall(action4.NewConfiguration())
		install.DryRunStrategy, install.ReleaseName, install.Namespace = action4.DryRunClient, "helmdrift", deployNamespace
		install.KubeVersion, _ = common.ParseKubeVersion("1.36.0")
		return manifest4(install.Run(chart, values))
	}
	chart, err := loader.Load(path)
	if err != nil {
		return "", err
	}
	install := action3.NewInstall(&action3.Configuration{Log: func(string, ...any) {}})
	install.DryRun, install.ClientOnly, install.ReleaseName, install.Namespace = true, true, "helmdrift", deployNamespace
	install.KubeVersion, _ = chartutil.ParseKubeVersion("1.36.0")
	return manifest3(install.Run(chart, values))
}

// TestChartLint lints the chart with both majors. It allows no message except that the chart has no icon.
func TestChartLint(t *testing.T) {
	path := filepath.Join("testdata", "charts", deployedChart)
	for name, set := range chartValues() {
		values := map[string]any{}
		must(t, strvals.ParseInto(set, values))
		three, four := action3.NewLint(), action4.NewLint()
		three.Strict, three.Namespace, four.Strict, four.Namespace = true, deployNamespace, true, deployNamespace
		three.KubeVersion, _ = chartutil.ParseKubeVersion("1.36.0")
		four.KubeVersion, _ = common.ParseKubeVersion("1.36.0")
		result := three.Run([]string{path}, values)
		for _, m := range result.Messages {
			if m.Severity > lint3.InfoSev {
				t.Errorf("%s: Helm 3: %s", name, m)
			}
		}
		if errs := append(result.Errors, four.Run([]string{path}, values).Errors...); len(errs) > 0 {
			t.Errorf("%s: %v", name, errs)
		}
	}
}

// TestChartValues checks what the chart refuses: misspelt words, and values without others that they need.
func TestChartValues(t *testing.T) {
	for set, want := range map[string]string{
		"shedule=x": "shedule", "metrics.mod=none": "mod", "metrics.mode=push": "metrics", "rbac.scope=all": "scope", "failOn=drfit": "failOn",
		"runAsUser=0": "runAsUser", "rbac.customResources[0].apiGroup=*,rbac.customResources[0].resources={a}": "apiGroup",
		"rbac.customResources[0].apiGroup=a,rbac.customResources[0].resources={pods/exec}": "resources",
		"metrics.mode=textfile":    "metrics.textfile.volume is needed",
		"metrics.mode=pushgateway": "metrics.pushgateway.url is needed",
		"rbac.scope=namespaces":    "rbac.namespaces is needed",
		"image.repository=":        "repository", "networkPolicy.ingress=x": "ingress",
		"metrics.textfile.name=a/b":                                 "name",
		"metrics.mode=pushgateway,metrics.pushgateway.url=http://x": "clusterName is needed",
	} {
		for _, by4 := range []bool{false, true} {
			if _, err := renderChart(by4, set); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %s", set, err, want)
			}
		}
	}
}

// TestChartObjects decodes what the chart makes strictly into the types of Kubernetes, and checks that all pods have no privileges.
func TestChartObjects(t *testing.T) {
	for name, set := range chartValues() {
		for _, by4 := range []bool{false, true} {
			text, err := renderChart(by4, set)
			must(t, err)
			objects, err := decodeObjects(text)
			must(t, err)
			for _, obj := range objects {
				if problem := checkChartObject(obj); problem != nil {
					t.Errorf("%s: %s %s: %v", name, obj.GetKind(), obj.GetName(), problem)
				}
			}
		}
	}
}

// checkChartObject decodes one object, and checks a pod and a role.
func checkChartObject(obj *unstructured.Unstructured) error {
	text, err := yaml.Marshal(obj.Object)
	if err != nil {
		return err
	}
	switch obj.GetKind() {
	case "ServiceAccount":
		return yaml.UnmarshalStrict(text, &corev1.ServiceAccount{})
	case "ConfigMap":
		return yaml.UnmarshalStrict(text, &corev1.ConfigMap{})
	case "ClusterRoleBinding", "RoleBinding":
		return yaml.UnmarshalStrict(text, &rbacv1.ClusterRoleBinding{})
	case "ClusterRole", "Role":
		role := rbacv1.ClusterRole{}
		err := yaml.UnmarshalStrict(text, &role)
		for right := range rightsOf(role.Rules) {
			verb, what, _ := strings.Cut(right, " ")
			if verb != "get" && verb != "list" || strings.ContainsAny(what, "*/") && !strings.HasPrefix(what, "/") {
				return fmt.Errorf("allows %s", right)
			}
		}
		return err
	case "NetworkPolicy":
		policy := networkingv1.NetworkPolicy{}
		if err := yaml.UnmarshalStrict(text, &policy); err != nil {
			return err
		}
		return checkPolicy(policy.Spec)
	case "CronJob":
		job := batchv1.CronJob{}
		if err := yaml.UnmarshalStrict(text, &job); err != nil {
			return err
		}
		pod := job.Spec.JobTemplate.Spec.Template.Spec
		own, all := pod.Containers[0].SecurityContext, pod.SecurityContext
		if len(job.Name) > 52 || own.Privileged != nil || *own.AllowPrivilegeEscalation || !*own.ReadOnlyRootFilesystem || !*all.RunAsNonRoot ||
			!slices.Equal(own.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(own.Capabilities.Add) > 0 || pod.HostNetwork || pod.HostPID {
			return fmt.Errorf("is not confined: %+v %+v", own, all)
		}
		return nil
	}
	return fmt.Errorf("is of a kind that nobody checks")
}

// checkPolicy checks that nothing may connect to the pods, and that they may connect to nothing but what a rule names by its port.
func checkPolicy(policy networkingv1.NetworkPolicySpec) error {
	if len(policy.Ingress) > 0 || len(policy.PolicyTypes) != 2 || len(policy.Egress) < 2 || len(policy.PodSelector.MatchLabels) != 1 {
		return fmt.Errorf("allows more than it should: %+v", policy)
	}
	for _, rule := range policy.Egress {
		if len(rule.Ports) == 0 || slices.ContainsFunc(rule.Ports, func(p networkingv1.NetworkPolicyPort) bool { return p.Port == nil }) {
			return fmt.Errorf("allows all ports: %+v", rule)
		}
	}
	return nil
}

// TestPolicySelectsPods checks that the policy selects the pods of the CronJob and of the Job.
func TestPolicySelectsPods(t *testing.T) {
	policy := decodeDeployed[networkingv1.NetworkPolicy](t, "networkpolicy.yaml")
	must(t, checkPolicy(policy.Spec))
	selector, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector)
	must(t, err)
	for file, pod := range map[string]corev1.PodTemplateSpec{
		"cronjob.yaml": decodeDeployed[batchv1.CronJob](t, "cronjob.yaml").Spec.JobTemplate.Spec.Template,
		"job.yaml":     decodeDeployed[batchv1.Job](t, "job.yaml").Spec.Template,
	} {
		if !selector.Matches(labels.Set(pod.Labels)) {
			t.Errorf("%s: the labels of the pods are %v", file, pod.Labels)
		}
	}
}

// rightsOf returns every right of the rules: a verb, and a resource of a group or a path.
func rightsOf(rules []rbacv1.PolicyRule) map[string]bool {
	out := map[string]bool{}
	for _, rule := range rules {
		for _, verb := range rule.Verbs {
			for _, path := range rule.NonResourceURLs {
				out[verb+" "+path] = true
			}
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					out[verb+" "+resource+"."+group] = true
				}
			}
		}
	}
	return out
}

// TestChartIsLikeKubernetes compares the chart with the manifests of deploy/kubernetes: the objects are the same, except for the labels of
// the chart, and the roles have the same rights.
func TestChartIsLikeKubernetes(t *testing.T) {
	for _, by4 := range []bool{false, true} {
		text, err := renderChart(by4, likeKubernetes)
		must(t, err)
		got, want := likeManifests(t, text), likeManifests(t, strings.Join([]string{deployFile(t, "rbac.yaml"), deployFile(t, "networkpolicy.yaml"), deployFile(t, "cronjob.yaml")}, "\n---\n"))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the chart differs from deploy/kubernetes (-kubernetes +chart):\n%s", diff)
		}
	}
}

// TestChartQuotes runs the script of the mode pushgateway in a shell: the arguments of helmdrift are the values, whatever they contain.
func TestChartQuotes(t *testing.T) {
	hostile := []string{"it's", "$(touch pwned)", "a b", "`touch pwned`", "; touch pwned", "", "\"", "*"}
	values := likeKubernetes + ",extraArgs={}"
	for i, word := range hostile {
		values += fmt.Sprintf(",extraArgs[%d]=%s", i, word)
	}
	text, err := renderChart(false, values)
	must(t, err)
	job := batchv1.CronJob{}
	for _, doc := range strings.Split(text, "\n---\n") {
		if strings.Contains(doc, "kind: CronJob") {
			must(t, yaml.Unmarshal([]byte(doc), &job))
		}
	}
	container, dir := job.Spec.JobTemplate.Spec.Template.Spec.Containers[0], t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "helmdrift"), []byte("#!/bin/sh\nprintf '<%s>' \"$@\"\n"), 0o755))
	cmd := exec.Command("/bin/sh", "-c", strings.ReplaceAll(container.Args[0], "/tmp/", dir+"/"))
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + dir + ":/bin:/usr/bin"}
	_ = cmd.Run() // there is no gateway
	got, err := os.ReadFile(filepath.Join(dir, "helmdrift.prom"))
	must(t, err)
	if want := "<" + strings.Join(hostile, "><") + ">"; !strings.HasSuffix(string(got), want) {
		t.Errorf("helmdrift is called with %s, want %s at the end", got, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("a value was run as a command")
	}
}

// likeManifests returns objects by kind and name, without the labels that only a chart has, and with rights in place of rules.
func likeManifests(t *testing.T, text string) map[string]any {
	t.Helper()
	objects, err := decodeObjects(text)
	must(t, err)
	out := map[string]any{}
	for _, obj := range objects {
		own := obj.GetLabels()
		for name := range own {
			if strings.HasPrefix(name, "app.kubernetes.io/") || strings.HasPrefix(name, "helm.sh/") {
				delete(own, name)
			}
		}
		if obj.SetLabels(own); len(own) == 0 {
			obj.SetLabels(nil)
		}
		if rules, found := obj.Object["rules"]; found {
			var role rbacv1.ClusterRole
			body, err := yaml.Marshal(map[string]any{"rules": rules})
			must(t, err)
			must(t, yaml.UnmarshalStrict(body, &role))
			obj.Object["rules"] = rightsOf(role.Rules)
		}
		out[obj.GetKind()+" "+obj.GetName()] = obj.Object
	}
	return out
}

// TestDeployChart installs the chart with the library of both majors. helmdrift finds no drift in it, and an edit. Its account may compare
// releases, and no more than its roles say.
func TestDeployChart(t *testing.T) {
	t.Parallel()
	for _, by4 := range []bool{false, true} {
		t.Run(fmt.Sprintf("helm4=%t", by4), func(t *testing.T) {
			c := newCase(t, suite.cluster)
			must(t, c.restrict())
			c.release = map[bool]string{false: "helmdrift-by-3", true: "helmdrift-by-4"}[by4]
			must(t, c.helm(by4, "install", deployedChart, "--set", "clusterName=test,config.ignore[0].paths={/data/none}"))
			t.Cleanup(func() { _, _ = c.run(helmCall{verb: "uninstall"}) })
			must(t, c.cluster.waitFor(context.Background(), ref{resource: "clusterrole", name: c.release}, "aggregated rules", hasRules))
			must(t, c.checkChartPod("cronjob/"+c.release))

			out, err := c.diff()
			must(t, err)
			want(t, out, 0, "")
			// The account does what the CronJob does, for this release alone.
			out, err = c.binary(slices.Concat(c.chartArguments(t), []string{"-o", "json", "--filter", "^" + c.release + "$"}, c.asAccount())...)
			must(t, err)
			if out.exit != 0 || !strings.Contains(out.stdout, `"errors": []`) || !strings.Contains(out.stdout, `"name": "`+c.release+`"`) {
				t.Errorf("exit %d\n%s%s", out.exit, out.stdout, out.stderr)
			}

			must(t, c.patch("kubectl-edit", "cronjob/"+c.release, `spec: {schedule: "0 0 * * *"}`))
			must(t, c.patch("kubectl-edit", "clusterrole/"+c.release+"-builtin", `[{op: add, path: /rules/0/verbs/-, value: delete}]`))
			out, err = c.diff(c.asAccount()...)
			must(t, err)
			if out.exit != 2 || !strings.Contains(strings.Join(out.report.lines(), "\n"), "spec.schedule") ||
				!strings.Contains(strings.Join(out.report.lines(), "\n"), "ClusterRole "+c.release+"-builtin") {
				t.Errorf("exit %d\n%s", out.exit, strings.Join(out.report.lines(), "\n"))
			}
		})
	}
}

// TestDeployChartInNamespaces installs the chart for two namespaces: the account may read there, and nowhere else.
func TestDeployChartInNamespaces(t *testing.T) {
	t.Parallel()
	c, other := newCase(t, suite.cluster), newCase(t, suite.cluster)
	c.release = "helmdrift"
	must(t, c.helm(true, "install", deployedChart, "--set", "rbac.scope=namespaces,rbac.namespaces={"+c.ns+"}"))
	must(t, other.helm(false, "install", "web"))
	out, err := c.binary(append([]string{"diff", "-o", "json"}, c.asAccount()...)...)
	must(t, err)
	report, err := decodeReport(out.stdout)
	must(t, err)
	if out.exit != 0 || len(report.lines()) > 0 {
		t.Errorf("exit %d\n%s\n%s", out.exit, strings.Join(report.lines(), "\n"), out.stderr)
	}
	out, err = other.binary(append([]string{"diff", "r", "-o", "json"}, c.asAccount()...)...)
	must(t, err)
	if out.exit != 1 || !strings.Contains(out.stderr, "forbidden") {
		t.Errorf("the account reads another namespace: exit %d\n%s", out.exit, out.stderr)
	}
}

// chartArguments returns the arguments of helmdrift in the CronJob, without the configuration, which is a file of the pod.
func (c *Case) chartArguments(t *testing.T) []string {
	t.Helper()
	r, err := c.ref("cronjob/" + c.release)
	must(t, err)
	job, err := c.cluster.get(context.Background(), r)
	must(t, err)
	containers, _, err := unstructured.NestedSlice(job.Object, "spec", "jobTemplate", "spec", "template", "spec", "containers")
	must(t, err)
	args, _, err := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
	must(t, err)
	i := slices.Index(args, "--config")
	return slices.Delete(args, i, i+2)
}

// asAccount returns the flags that impersonate the account of the chart.
func (c *Case) asAccount() []string {
	out := []string{"--kube-as-user", "system:serviceaccount:" + c.ns + ":" + c.release}
	for _, group := range []string{"system:serviceaccounts", "system:serviceaccounts:" + c.ns, "system:authenticated"} {
		out = append(out, "--kube-as-group", group)
	}
	return out
}

// restrict lets the namespace admit only pods of the restricted profile.
func (c *Case) restrict() error {
	body := []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)
	_, err := c.cluster.Client.Resource(namespaces).Patch(context.Background(), c.ns, types.MergePatchType, body, metav1.PatchOptions{})
	return err
}

// checkChartPod lets the API server try the pod of a CronJob.
func (c *Case) checkChartPod(name string) error {
	r, err := c.ref(name)
	if err != nil {
		return err
	}
	job, err := c.cluster.get(context.Background(), r)
	if err != nil {
		return err
	}
	spec, _, err := unstructured.NestedMap(job.Object, "spec", "jobTemplate", "spec", "template", "spec")
	if err != nil {
		return err
	}
	pod := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "helmdrift", "namespace": c.ns}, "spec": spec,
	}}
	try := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
	client := c.cluster.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace(c.ns)
	_, err = client.Create(context.Background(), pod, try)
	return err
}

// hasRules reports whether a role has rules.
func hasRules(obj *unstructured.Unstructured) bool {
	rules, _, _ := unstructured.NestedSlice(obj.Object, "rules")
	return len(rules) > 0
}

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/release"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"
)

// deployedJobs runs the Job and the CronJob of deploy/kubernetes on a few releases. One of them drifted.
type deployedJobs struct {
	*scanner
	client  kubernetes.Interface
	kubelet *kubelet
	// selector selects the releases of this test by the labels of their records, because the cluster also has releases of other tests,
	// and some of these drifted or cannot be read. It is the only change to what the containers run.
	selector string
	drifted  *Case
}

// checkDeployedJobs runs the Job and the CronJob with the control plane's own controllers, and a kubelet that runs the binary under test.
func checkDeployedJobs(t *testing.T, c *Case) {
	if os.Getenv(kubeconfigEnv) != "" {
		t.Skip("the nodes of the cluster that " + kubeconfigEnv + " names cannot run the binary under test")
	}
	client, err := kubernetes.NewForConfig(c.cluster.Config)
	must(t, err)
	d := &deployedJobs{scanner: newScanner(t, c.cluster), client: client, selector: "fleet=" + c.ns}
	for range 5 {
		d.drifted = newCase(t, c.cluster)
		must(t, d.drifted.helm(false, "install", "web"))
		must(t, d.drifted.forge(func(r *release.Release) { r.Labels = map[string]string{"fleet": c.ns} }))
	}
	must(t, d.drifted.scale("deployment/web", "5"))
	d.kubelet = startKubelet(t, c.cluster, client, deployNamespace)
	t.Run("account", d.checkAccount)
	t.Run("indexed", d.checkIndexedJob)
	t.Run("cron", d.checkCronJob)
}

// checkAccount runs a pod that has nothing but its account: no kubeconfig, and no name of the cluster.
func (d *deployedJobs) checkAccount(t *testing.T) {
	if d.kubelet.noAccount != nil {
		t.Skip("this system cannot show a process the account of a pod: ", d.kubelet.noAccount)
	}
	template := decodeDeployed[batchv1.Job](t, "job.yaml").Spec.Template
	container := runHere(&template)
	container.Args = []string{"diff", "--all-namespaces", "-o", "json", "-l", d.selector}
	setVariable(container, clusterNameEnv, "")
	ctx, pods := context.Background(), d.client.CoreV1().Pods(deployNamespace)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "account", Namespace: deployNamespace}, Spec: template.Spec}
	_, err := pods.Create(ctx, pod, metav1.CreateOptions{})
	must(t, err)
	must(t, poll(ctx, "the end of the pod", func() (bool, error) {
		pod, err = pods.Get(ctx, pod.Name, metav1.GetOptions{})
		return err == nil && len(pod.Status.ContainerStatuses) > 0, err
	}))
	log := d.kubelet.log(pod.Name)
	var got scanReport
	must(t, json.NewDecoder(strings.NewReader(log)).Decode(&got))
	exit := pod.Status.ContainerStatuses[0].State.Terminated.ExitCode
	if exit != 2 || len(got.Releases) != 5 || len(got.Errors) > 0 || !slices.Equal(got.Scan.Clusters, []string{"in-cluster"}) {
		t.Errorf("exit %d\n%s", exit, log)
	}
}

// clusterNameEnv names the cluster in reports.
const clusterNameEnv = "HELMDRIFT_CLUSTER_NAME"

// setVariable sets a variable that a container has.
func setVariable(container *corev1.Container, name, value string) {
	i := slices.IndexFunc(container.Env, func(v corev1.EnvVar) bool { return v.Name == name })
	container.Env[i].Value = value
}

// checkIndexedJob runs the four parts of job.yaml. The part with the release that drifted is a failed index and is not tried again, and
// all logs together are the report of the whole.
func (d *deployedJobs) checkIndexedJob(t *testing.T) {
	job := decodeDeployed[batchv1.Job](t, "job.yaml")
	container := runHere(&job.Spec.Template)
	container.Args = append(container.Args, "-l", d.selector)
	setVariable(container, clusterNameEnv, "test")
	job = d.runJob(t, job)

	ofJob := metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job.Name}
	pods, err := d.client.CoreV1().Pods(deployNamespace).List(context.Background(), ofJob)
	must(t, err)
	if len(pods.Items) != 4 {
		t.Errorf("there were %d pods", len(pods.Items))
	}
	var parts []string
	drifted := ""
	for _, pod := range pods.Items {
		index, log := pod.Labels[batchv1.JobCompletionIndexAnnotation], d.kubelet.log(pod.Name)
		part := filepath.Join(t.TempDir(), "part-"+index+".json")
		must(t, os.WriteFile(part, []byte(log), 0o600))
		parts = append(parts, part)
		if strings.Contains(log, d.drifted.ns) {
			drifted = index
		}
	}
	others := map[string]string{"0": "1-3", "1": "0,2,3", "2": "0,1,3", "3": "0-2"}[drifted]
	if status := job.Status; *status.FailedIndexes != drifted || status.CompletedIndexes != others {
		t.Errorf("part %q drifted; completed %q, failed %q", drifted, status.CompletedIndexes, *status.FailedIndexes)
	}
	if reason := finished(job).Reason; reason != batchv1.JobReasonFailedIndexes {
		t.Errorf("the Job ended with %s", reason)
	}
	d.checkMerged(t, parts)
}

// checkMerged merges the parts and compares them with a scan that has the rights of an administrator.
func (d *deployedJobs) checkMerged(t *testing.T, parts []string) {
	t.Helper()
	got, err := d.run(append([]string{"report", "-o", "json"}, parts...)...)
	must(t, err)
	want := d.mustScan(t, 2, "-A", "-l", d.selector)
	if got.exit != 2 || len(want.Releases) != 5 || len(got.Errors) > 0 {
		t.Errorf("exit %d, %d releases\n%s%s", got.exit, len(want.Releases), got.summary(), got.stderr)
	}
	if diff := cmp.Diff(want.Releases, got.Releases); diff != "" {
		t.Errorf("releases (-administrator +parts):\n%s", diff)
	}
}

// checkCronJob runs the Job of cronjob.yaml as kubectl create job --from does. Its metrics reach the Pushgateway, and drift is no failure.
// TestGoldenFilesAreMetrics in test/deploy reads such metrics with the parser of the Pushgateway.
func (d *deployedJobs) checkCronJob(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("the script of the CronJob needs curl: ", err)
	}
	received := make(chan string, 10)
	gateway := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received <- r.Method + " " + r.URL.Path + "\n" + string(body)
	}))
	t.Cleanup(gateway.Close)

	cron := d.installCronJob(t, gateway.URL)
	job := d.runJob(t, &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: "helmdrift-by-hand", Namespace: deployNamespace, Labels: cron.Spec.JobTemplate.Labels,
			Annotations:     map[string]string{"cronjob.kubernetes.io/instantiate": "manual"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(cron, batchv1.SchemeGroupVersion.WithKind("CronJob"))},
		},
		Spec: cron.Spec.JobTemplate.Spec,
	})
	if end := finished(job); end.Type != batchv1.JobComplete {
		t.Errorf("the Job ended with %s: %s", end.Reason, end.Message)
	}
	if len(received) != 1 {
		t.Fatalf("the Pushgateway received %d requests", len(received))
	}
	request, body, _ := strings.Cut(<-received, "\n")
	if request != "PUT /metrics/job/helmdrift/cluster/prod" {
		t.Error(request)
	}
	want, err := d.run("diff", "-A", "-l", d.selector, "-o", "prometheus", "--cluster-name", "prod")
	must(t, err)
	if diff := cmp.Diff(lastingMetrics(want.stdout), lastingMetrics(body)); diff != "" {
		t.Errorf("metrics (-administrator +pushed):\n%s", diff)
	}
	line := fmt.Sprintf("helmdrift_release_drifted{cluster=%q,namespace=%q,release=%q} 1", "prod", d.drifted.ns, d.drifted.release)
	if !slices.Contains(strings.Split(body, "\n"), line) {
		t.Errorf("no %s", line)
	}
}

// installCronJob creates the CronJob. Its schedule is suspended, so that no other Job sends metrics.
func (d *deployedJobs) installCronJob(t *testing.T, gateway string) *batchv1.CronJob {
	t.Helper()
	cron := decodeDeployed[batchv1.CronJob](t, "cronjob.yaml")
	suspended := true
	cron.Spec.Suspend = &suspended
	container := runHere(&cron.Spec.JobTemplate.Spec.Template)
	container.Args[0] = strings.Replace(container.Args[0], "--all-namespaces", "--all-namespaces -l "+d.selector, 1)
	setVariable(container, clusterNameEnv, "prod")
	setVariable(container, "PUSHGATEWAY_URL", gateway)
	cron, err := d.client.BatchV1().CronJobs(deployNamespace).Create(context.Background(), cron, metav1.CreateOptions{})
	must(t, err)
	return cron
}

// lastingMetrics returns the lines that do not depend on when and how the scan was made.
func lastingMetrics(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		return strings.HasPrefix(line, "helmdrift_scan_") || strings.HasPrefix(line, "helmdrift_last_success_")
	})
}

// decodeDeployed decodes a file of deploy/kubernetes that has one object.
func decodeDeployed[T any](t *testing.T, file string) *T {
	t.Helper()
	out := new(T)
	must(t, yaml.UnmarshalStrict([]byte(deployFile(t, file)), out))
	return out
}

// runHere makes the kubelet of the test run the pods of a template, and returns their container.
func runHere(template *corev1.PodTemplateSpec) *corev1.Container {
	template.Spec.SchedulerName = testScheduler
	template.Spec.Containers[0].Image = "helmdrift:test"
	return &template.Spec.Containers[0]
}

// runJob creates a Job and waits until its controller says that it has ended.
func (d *deployedJobs) runJob(t *testing.T, job *batchv1.Job) *batchv1.Job {
	t.Helper()
	ctx, jobs := context.Background(), d.client.BatchV1().Jobs(deployNamespace)
	job, err := jobs.Create(ctx, job, metav1.CreateOptions{})
	must(t, err)
	must(t, poll(ctx, "the end of job "+job.Name, func() (bool, error) {
		job, err = jobs.Get(ctx, job.Name, metav1.GetOptions{})
		return err == nil && finished(job).Type != "", err
	}))
	return job
}

// finished returns the condition that says a Job is complete or failed, or an empty one.
func finished(job *batchv1.Job) batchv1.JobCondition {
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return batchv1.JobCondition{}
}

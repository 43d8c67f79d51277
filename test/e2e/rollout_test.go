package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// rolloutChart has a Deployment whose annotations, image and requests say how its pods behave (test/controlplane/cmd/fakenode).
// While the Deployment is missing, the ConfigMap shows the field manager of Helm.
const rolloutChart = `
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {ANNOTATIONS}
    spec:
      containers:
      - name: app
        image: IMAGE
        env: [{name: API_TOKEN, value: canary-token-77}]
        resources: {requests: {cpu: "CPU"}}
MORE`

// rolloutCase is a Deployment that does not come up. Somebody deletes the Deployment, and fix puts it back from the chart.
type rolloutCase struct {
	annotations, image, cpu, more string
	// beside are objects that exist before the release.
	beside string
	// reason is what the reason begins with or contains, event the reason of the first event that shows the problem, and log the last line
	// of the log.
	reason, event, log string
	// container and pod say whether the reason is about one.
	container, pod bool
	// timesOut lets the wait end by itself. Otherwise it is interrupted when the reason is known.
	timesOut bool
}

func rolloutCases() map[string]rolloutCase {
	return map[string]rolloutCase{
		"image": {image: "ex.com/app:missing", reason: "not found", event: "Failed", container: true, pod: true},
		"crash": {annotations: `node.helmdrift.io/exit-code: "3", node.helmdrift.io/log: "token canary-token-77\npanic: no database\n"`,
			reason: "exit code 3", event: "BackOff", log: "panic: no database", container: true, pod: true, timesOut: true},
		"claim": {more: "      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]\n",
			beside: "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, " +
				"spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}",
			reason: "PersistentVolumeClaim data is not bound", event: "FailedScheduling", pod: true},
		"probe": {annotations: `node.helmdrift.io/unhealthy: "HTTP probe failed with statuscode: 503"`,
			reason: "Readiness probe failed: HTTP probe failed with statuscode: 503", event: "Unhealthy", container: true, pod: true},
		"quota": {beside: `{apiVersion: v1, kind: ResourceQuota, metadata: {name: few}, spec: {hard: {pods: "1"}}}`,
			reason: "exceeded quota: few", event: "FailedCreate"},
		"unschedulable": {cpu: "5000", reason: "Insufficient cpu", event: "FailedScheduling", pod: true},
	}
}

// manifest returns the chart.
func (r rolloutCase) manifest() string {
	return strings.NewReplacer("{ANNOTATIONS}", "{"+r.annotations+"}", "IMAGE", orElse(r.image, "app:1"), "CPU", orElse(r.cpu, "1"),
		"MORE", r.more).Replace(rolloutChart)
}

// TestRollout checks that fix --wait names the reason of each case within five seconds of its first event, that its result says so too,
// and that no secret is shown.
func TestRollout(t *testing.T) {
	t.Parallel()
	for name, test := range rolloutCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCase(t, suite.cluster)
			test.install(t, c, name == "crash" || name == "quota")
			test.check(t, c)
		})
	}
}

// install installs the release and deletes its Deployment.
func (r rolloutCase) install(t *testing.T, c *Case, by4 bool) {
	t.Helper()
	if r.beside != "" {
		must(t, c.cluster.create(t.Context(), r.beside, c.ns, "others"))
	}
	if strings.Contains(r.beside, "ResourceQuota") {
		quota, err := c.ref("resourcequota/few")
		must(t, err)
		must(t, c.cluster.waitFor(t.Context(), quota, "status", func(u *unstructured.Unstructured) bool {
			_, counted, _ := unstructured.NestedMap(u.Object, "status", "used")
			return counted
		}))
	}
	must(t, os.WriteFile(filepath.Join(c.dir, "app.yaml"), []byte(r.manifest()), 0o600))
	must(t, c.helm(by4, "install", "app.yaml"))
	web, err := c.ref("deployment/web")
	must(t, err)
	must(t, c.cluster.delete(t.Context(), web))
	must(t, poll(t.Context(), "the end of the pods", func() (bool, error) {
		pods, err := c.podsOf(t.Context())
		return len(pods) == 0, err
	}))
}

// podsOf returns the pods of the namespace.
func (c *Case) podsOf(ctx context.Context) ([]unstructured.Unstructured, error) {
	client, _, err := c.cluster.clientFor(ref{resource: "pod", namespace: c.ns})
	if err != nil {
		return nil, err
	}
	list, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// check runs fix --wait, and compares what it says with the case.
func (r rolloutCase) check(t *testing.T, c *Case) {
	t.Helper()
	begun := time.Now().Truncate(time.Second) // the times of events have no fractions
	out := c.runWait(t, r)
	t.Logf("stderr\n%s", out.stderr)
	if strings.Contains(out.stdout+out.stderr, "canary") {
		t.Errorf("a secret is shown:\n%s\n%s", out.stdout, out.stderr)
	}
	var result struct {
		Results []struct {
			Status  string
			Rollout struct {
				Status, Reason, Pod, Container string
				Wanted, Unavailable            int
				ExitCode                       *int
				Events                         []struct{ Reason string }
				Log                            []string
			}
		}
	}
	must(t, json.Unmarshal([]byte(out.stdout), &result))
	got := result.Results[0].Rollout
	want := map[bool]string{true: "timed-out", false: "interrupted"}[r.timesOut]
	if out.exit != 1 || result.Results[0].Status != "fixed" || got.Status != want || got.Wanted != 2 || got.Unavailable == 0 ||
		!strings.Contains(got.Reason, r.reason) || (got.Pod != "") != r.pod || (got.Container != "") != r.container {
		t.Errorf("exit %d: %+v", out.exit, result.Results)
	}
	if r.log != "" && (len(got.Log) != 2 || got.Log[0] != "token ***" || got.Log[1] != r.log || got.ExitCode == nil || *got.ExitCode != 3) {
		t.Errorf("log %q, exit code %v", got.Log, got.ExitCode)
	}
	first := c.firstEvent(t, r.event, begun)
	if took := out.named.Sub(first); out.named.IsZero() || took > 5*time.Second+out.slow {
		t.Errorf("named %s after the first event, with an API server that answers in %s", took, out.slow)
	}
}

// firstEvent returns when an event with a reason first happened after a time.
func (c *Case) firstEvent(t *testing.T, reason string, after time.Time) time.Time {
	t.Helper()
	client, _, err := c.cluster.clientFor(ref{resource: "event", namespace: c.ns})
	must(t, err)
	list, err := client.List(t.Context(), metav1.ListOptions{FieldSelector: "reason=" + reason})
	must(t, err)
	first := time.Time{}
	for _, event := range list.Items {
		for _, field := range []string{"firstTimestamp", "eventTime"} {
			text, _, _ := unstructured.NestedString(event.Object, field)
			at, err := time.Parse(time.RFC3339Nano, text)
			if err == nil && !at.Before(after) && (first.IsZero() || at.Before(first)) {
				first = at
			}
		}
	}
	if first.IsZero() {
		t.Fatalf("no event %s among %d", reason, len(list.Items))
	}
	return first
}

// waitRun is a run of fix --wait.
type waitRun struct {
	binaryRun
	// named is when the reason of the case was printed, and slow is ten times the slowest answer of the API server meanwhile,
	// because everything is slow on a busy machine.
	named time.Time
	slow  time.Duration
}

// runWait runs fix --wait, and interrupts it when the reason of the case is printed, unless it is to time out.
func (c *Case) runWait(t *testing.T, r rolloutCase) waitRun {
	t.Helper()
	c.proxy.reset(permitWrites)
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	timeout := "4m"
	if r.timesOut {
		timeout = "15s"
	}
	cmd := exec.CommandContext(ctx, suite.binary, "fix", c.release, "--yes", "--wait", "--wait-timeout", timeout, "-o", "json",
		"--kubeconfig", c.proxy.kubeconfig, "-n", c.storage)
	cmd.Dir, cmd.Env = c.dir, []string{"HOME=" + c.dir, "PATH=" + os.Getenv("PATH")}
	var stdout bytes.Buffer
	printed := &reasonWriter{reason: r.reason, onReason: func() {
		if !r.timesOut {
			_ = cmd.Process.Signal(os.Interrupt)
		}
	}}
	cmd.Stdout, cmd.Stderr = &stdout, printed
	pinging, stop := context.WithCancel(ctx)
	defer stop()
	slowest := make(chan time.Duration, 1)
	go func() { slowest <- c.slowestAnswer(pinging) }()
	_ = cmd.Run()
	stop()
	must(t, ctx.Err())
	printed.mu.Lock()
	defer printed.mu.Unlock()
	out := waitRun{named: printed.named, slow: 10 * <-slowest}
	out.stdout, out.stderr, out.exit = stdout.String(), printed.text.String(), cmd.ProcessState.ExitCode()
	return out
}

// slowestAnswer returns how long the slowest of many requests to the API server took, until ctx ends.
func (c *Case) slowestAnswer(ctx context.Context) (slowest time.Duration) {
	for ctx.Err() == nil {
		start := time.Now()
		if _, err := c.podsOf(ctx); err == nil {
			slowest = max(slowest, time.Since(start))
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
	return slowest
}

// reasonWriter keeps what is written, and when a reason was first written.
type reasonWriter struct {
	reason   string
	onReason func()

	mu    sync.Mutex
	text  bytes.Buffer
	named time.Time
}

// Write keeps the text.
func (w *reasonWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(text)
	if w.named.IsZero() && strings.Contains(w.text.String(), w.reason) {
		w.named = time.Now()
		w.onReason()
	}
	return len(text), nil
}

// TestRolloutComesUp checks that the wait ends when the pods are ready. Drifted pods that cannot start do not count, and the pods of a
// Deployment that was missing need three seconds.
func TestRolloutComesUp(t *testing.T) {
	t.Parallel()
	for name, by4 := range map[string]bool{"client-side": false, "server-side": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCase(t, suite.cluster)
			chart := rolloutCase{annotations: "node.helmdrift.io/ready-after: 3s"}.manifest()
			must(t, os.WriteFile(filepath.Join(c.dir, "app.yaml"), []byte(chart), 0o600))
			must(t, c.helm(by4, "install", "app.yaml"))
			web, err := c.ref("deployment/web")
			must(t, err)
			must(t, c.cluster.waitFor(t.Context(), web, "ready pods", hasReadyPods))
			image := `{spec: {template: {spec: {containers: [{name: app, image: "ex.com/app:missing"}]}}}}`
			must(t, c.patch("kubectl-edit", "deployment/web", image))
			c.mustComeUp(t)
			must(t, c.cluster.delete(t.Context(), web))
			c.mustComeUp(t)
		})
	}
}

// hasReadyPods reports whether both pods of the Deployment are ready.
func hasReadyPods(u *unstructured.Unstructured) bool {
	n, _, _ := unstructured.NestedInt64(u.Object, "status", "readyReplicas")
	return n == 2
}

// mustComeUp runs fix --wait. Then the pods must be ready.
func (c *Case) mustComeUp(t *testing.T) {
	t.Helper()
	out, result, err := c.fix("--yes", "--wait", "--wait-timeout", "4m")
	must(t, err)
	if out.exit != 0 || result.Results[0].Rollout.Status != "ready" || result.Results[0].Rollout.Updated != 2 {
		t.Errorf("exit %d: %+v\n%s", out.exit, result.Results, out.stderr)
	}
	web, err := c.ref("deployment/web")
	must(t, err)
	if now, err := c.cluster.get(t.Context(), web); err != nil || !hasReadyPods(now) {
		t.Errorf("the pods are not ready: %v", err)
	}
}

// TestRolloutOfBrokenStatefulSet checks that fix --wait says what blocks a StatefulSet if drift broke one of its pods: its
// controller replaces no pod before all of them are ready, although the values are back.
func TestRolloutOfBrokenStatefulSet(t *testing.T) {
	t.Parallel()
	c := newCase(t, suite.cluster)
	chart := strings.NewReplacer("kind: Deployment", "kind: StatefulSet").Replace(rolloutCase{}.manifest())
	must(t, os.WriteFile(filepath.Join(c.dir, "app.yaml"), []byte(chart), 0o600))
	must(t, c.helm(false, "install", "app.yaml"))
	web, err := c.ref("statefulset/web")
	must(t, err)
	must(t, c.cluster.waitFor(t.Context(), web, "ready pods", hasReadyPods))
	must(t, c.patch("kubectl-edit", "statefulset/web", `{spec: {template: {spec: {containers: [{name: app, image: "ex.com/app:missing"}]}}}}`))
	must(t, c.cluster.waitFor(t.Context(), web, "a broken pod", func(u *unstructured.Unstructured) bool { return !hasReadyPods(u) }))
	out := c.runWait(t, rolloutCase{reason: "this StatefulSet replaces it only if it gets ready or is deleted"})
	if out.exit != 1 || out.named.IsZero() || !strings.Contains(out.stderr, "not up yet: StatefulSet web: pod web-1, container app: ") {
		t.Errorf("exit %d\n%s\n%s", out.exit, out.stdout, out.stderr)
	}
	pod, err := c.ref("pod/web-1")
	must(t, err)
	must(t, c.cluster.delete(t.Context(), pod))
	must(t, c.cluster.waitFor(t.Context(), web, "ready pods", hasReadyPods))
}

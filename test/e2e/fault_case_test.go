package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// faultChart is a release with a Secret, a native and a custom kind, and an object that the tests delete. One value changes all of them.
const faultChart = `
apiVersion: v1
kind: Secret
metadata: {name: creds}
stringData: {pw: canary-{{ .Values.v | default "old" }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {a: {{ .Values.v | default "old" }}, b: kept}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: lost}
data: {a: {{ .Values.v | default "old" }}{{ with .Values.v }}, more: {{ . }}{{ end }}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: side, image: side}
      - name: app
        image: app:{{ .Values.v | default "old" }}
        env: [{name: A, value: a}, {name: B, value: b}, {name: C, value: c}]
---
apiVersion: ex.com/v1
kind: Thing
metadata: {name: demo}
spec: {max: {{ if .Values.v }}99{{ else }}10{{ end }}, min: 1}
`

// faultCase is a release that drifts and whose fix meets faults. Afterwards the release must be as it was before the drift.
type faultCase struct {
	*Case
	*faultProxy
	by4     bool
	process *os.Process
	// wantObjects are the objects before the drift, which a fix restores; wantOwnership is what helm owned of them, and wantRecords the
	// history.
	wantObjects, wantOwnership, wantRecords map[string]any
}

var faultObjects = []string{"secret/creds", "configmap/conf", "configmap/lost", "deployment/web", "things.ex.com/demo", "configmap/beside"}

// newFaultCase installs the release. Other managers write to its objects and create an object next to them.
func newFaultCase(t *testing.T, by4 bool) *faultCase {
	t.Helper()
	c := &faultCase{Case: newCase(t, suite.cluster), by4: by4}
	c.faultProxy = startFaults(t, c.Case)
	must(t, os.WriteFile(filepath.Join(c.dir, "app.yaml"), []byte(faultChart), 0o600))
	must(t, c.helm(by4, "install", "app.yaml"))
	for object, body := range map[string]string{
		"secret/creds":       `{data: {theirs: eA==}}`,
		"configmap/conf":     `{data: {theirs: x}, metadata: {annotations: {theirs: x}}}`,
		"deployment/web":     `{metadata: {labels: {theirs: x}}, spec: {minReadySeconds: 7, template: {spec: {containers: [{name: app, env: [{name: THEIRS, value: x}]}]}}}}`,
		"things.ex.com/demo": `{spec: {keep: theirs}}`,
	} {
		must(t, c.patch("others", object, body))
	}
	must(t, c.cluster.create(t.Context(), "{apiVersion: v1, kind: ConfigMap, metadata: {name: beside}, data: {k: v}}", c.ns, "others"))
	c.wantObjects, c.wantOwnership, c.wantRecords = c.objects(t), c.ownership(t), c.history(t)
	return c
}

// underBothHelms runs a test under each Helm.
func underBothHelms(t *testing.T, test func(t *testing.T, c *faultCase)) {
	for name, by4 := range map[string]bool{"client-side": false, "server-side": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newFaultCase(t, by4))
		})
	}
}

// drift changes managed fields of all objects, or of those that are named.
func (c *faultCase) drift(t *testing.T, some ...string) {
	t.Helper()
	for object, body := range map[string]string{
		"secret/creds":       `{data: {pw: ` + base64.StdEncoding.EncodeToString([]byte("canary-drifted")) + `}}`,
		"configmap/conf":     `{data: {a: drifted}}`,
		"deployment/web":     `{spec: {template: {spec: {containers: [{name: app, image: "app:drifted", env: [{name: A, value: drifted}, {name: B, $patch: delete}]}]}}}}`,
		"things.ex.com/demo": `{spec: {max: 30}}`,
		"configmap/lost":     "",
	} {
		switch {
		case len(some) > 0 && !strings.Contains(strings.Join(some, " "), object):
		case body == "":
			r, err := c.ref(object)
			must(t, err)
			must(t, c.cluster.delete(t.Context(), r))
		default:
			must(t, c.patch("kubectl-edit", object, body))
		}
	}
}

// objects returns the objects without the fields that every write changes or that identify an object.
func (c *faultCase) objects(t *testing.T) map[string]any {
	t.Helper()
	out := map[string]any{}
	for name, obj := range c.read(t) {
		plain := withoutServerFields(obj.Object)
		unstructured.RemoveNestedField(plain, "metadata", "uid")
		unstructured.RemoveNestedField(plain, "metadata", "creationTimestamp")
		out[name] = plain
	}
	return out
}

// ownership returns what helm owns, and what helmdrift owns.
func (c *faultCase) ownership(t *testing.T) map[string]any {
	t.Helper()
	out := map[string]any{}
	for name, obj := range c.read(t) {
		for _, entry := range obj.GetManagedFields() {
			if entry.Manager == "helm" && c.by4 || entry.Manager == "helmdrift" {
				out[name+" "+entry.Manager+" "+string(entry.Operation)] = entry.FieldsV1.GetRawString()
			}
		}
	}
	return out
}

func (c *faultCase) read(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	out := map[string]*unstructured.Unstructured{}
	for _, name := range faultObjects {
		r, err := c.ref(name)
		must(t, err)
		if obj, err := c.cluster.get(context.Background(), r); err == nil {
			out[name] = obj
		}
	}
	return out
}

// history returns every record of the release with its resource version.
func (c *faultCase) history(t *testing.T) map[string]any {
	t.Helper()
	client, _, err := c.cluster.clientFor(ref{resource: "secret", namespace: c.storage})
	must(t, err)
	list, err := client.List(t.Context(), metav1.ListOptions{LabelSelector: "owner=helm"})
	must(t, err)
	out := map[string]any{}
	for _, record := range list.Items {
		out[record.GetName()] = record.GetResourceVersion()
	}
	return out
}

// runFix runs helmdrift fix. Its output must never contain a value of the Secret.
func (c *faultCase) runFix(t *testing.T, args ...string) (binaryRun, *fixResult) {
	t.Helper()
	out, result, err := c.fix(append([]string{"--yes"}, args...)...)
	must(t, err)
	if strings.Contains(out.stdout+out.stderr, "canary") || strings.Contains(out.stdout+out.stderr, base64.StdEncoding.EncodeToString([]byte("canary-"))[:8]) {
		t.Errorf("a secret value is shown:\n%s\n%s", out.stdout, out.stderr)
	}
	if result == nil {
		t.Fatalf("exit %d, no result\n%s", out.exit, out.stderr)
	}
	return out, result
}

// startFix runs helmdrift fix as a process that tests can signal. It returns how the process ended, and its output.
func (c *faultCase) startFix(t *testing.T) (*os.ProcessState, string) {
	t.Helper()
	c.proxy.reset(permitWrites)
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, suite.binary, "fix", c.release, "--yes", "--kubeconfig", c.proxy.kubeconfig, "-n", c.storage)
	cmd.Dir, cmd.Env = c.dir, []string{"HOME=" + c.dir, "PATH=" + os.Getenv("PATH")}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	must(t, cmd.Start())
	c.process = cmd.Process
	_ = cmd.Wait()
	must(t, ctx.Err())
	return cmd.ProcessState, out.String()
}

// mustComplete fixes what is left, without faults, and compares everything with the state before the drift.
func (c *faultCase) mustComplete(t *testing.T) {
	t.Helper()
	c.setFaults(nil)
	out, result := c.runFix(t)
	if out.exit != 0 {
		t.Errorf("exit %d\n%s\n%s", out.exit, strings.Join(result.lines(), "\n"), out.stderr)
	}
	c.mustBeRestored(t)
}

// mustBeRestored fails if anything differs from the state before the drift.
func (c *faultCase) mustBeRestored(t *testing.T) {
	t.Helper()
	if diff := cmp.Diff(c.wantObjects, c.objects(t)); diff != "" {
		t.Errorf("objects (-before the drift +now):\n%s", diff)
	}
	if diff := cmp.Diff(c.wantOwnership, c.ownership(t)); diff != "" {
		t.Errorf("ownership (-before the drift +now):\n%s", diff)
	}
	if diff := cmp.Diff(c.wantRecords, c.history(t)); diff != "" {
		t.Errorf("history (-before the drift +now):\n%s", diff)
	}
}

// statuses returns a result in short.
func (r *fixResult) statuses() string {
	var out []string
	for _, o := range r.Results {
		out = append(out, o.Object[strings.LastIndex(o.Object, "/")+1:]+" "+o.Status)
	}
	return strings.Join(out, ", ")
}

const allFixed = "creds fixed, conf fixed, lost fixed, web fixed, demo fixed"

// startWriter starts a controller that writes at a pace until it is stopped or has written 1,000 times.
func (c *faultCase) startWriter(t *testing.T, object string, pace time.Duration, kind types.PatchType, body func(i int) string) (stop func() int) {
	t.Helper()
	r, err := c.ref(object)
	must(t, err)
	client, _, err := c.cluster.clientFor(r)
	must(t, err)
	done, started, writes := make(chan struct{}), make(chan struct{}), 0
	var group sync.WaitGroup
	group.Go(func() {
		tick := time.NewTicker(pace)
		defer tick.Stop()
		for writes < 1000 {
			if _, err := client.Patch(context.Background(), r.name, kind, []byte(body(writes+1)), metav1.PatchOptions{FieldManager: "controller"}); err != nil {
				t.Errorf("the controller cannot write: %v", err)
				return
			}
			if writes++; writes == 2 {
				close(started)
			}
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
	<-started
	return func() int {
		close(done)
		group.Wait()
		return writes
	}
}

// busyInterval is the pace of a controller that writes constantly: 50 times a second.
const busyInterval = 20 * time.Millisecond

// firstWriteOf applies a fault to the first write of an object.
func (c *faultCase) firstWriteOf(object string, does writeFault) func(int, *http.Request) writeFault {
	done := false
	return func(_ int, r *http.Request) writeFault {
		lost := object == "/lost" && r.Method == http.MethodPost
		if done || !lost && !strings.HasSuffix(r.URL.Path, object) {
			return nil
		}
		done = true
		return does
	}
}

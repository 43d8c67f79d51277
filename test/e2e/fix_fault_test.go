package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	ossignal "os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// TestFixUnderFaults applies a fault to each write once. One run puts everything back, and nothing else changes.
func TestFixUnderFaults(t *testing.T) {
	t.Parallel()
	underBothHelms(t, func(t *testing.T, c *faultCase) {
		failed := respond(500, metav1.StatusReasonInternalError)
		// These faults come before the API server acts.
		unheard := []writeFault{respond(409, metav1.StatusReasonConflict), respond(422, metav1.StatusReasonInvalid), throttle, failed, closeConnection}
		for name, choose := range map[string]func(int, *http.Request) writeFault{
			"unheard":          everyFirstTry(0, unheard...),
			"unheard, shifted": everyFirstTry(2, unheard...),
			"lost":             inTurn(0, afterServer(failed), afterServer(closeConnection)),
			"lost, shifted":    inTurn(1, afterServer(failed), afterServer(closeConnection)),
			"out of time": func(n int, _ *http.Request) writeFault {
				return map[int]writeFault{1: withholdAnswer, 4: afterServer(withholdAnswer)}[n]
			},
		} {
			c.drift(t)
			c.setFaults(choose)
			args := []string{}
			if name == "out of time" {
				args = append(args, "--timeout", "12s") // one request may take half of it
			}
			out, result := c.runFix(t, args...)
			if got := result.statuses(); out.exit != 0 || got != allFixed {
				t.Errorf("%s: exit %d: %s\n%s", name, out.exit, strings.Join(result.lines(), "\n"), out.stderr)
			}
			c.mustBeRestored(t)
			if t.Failed() {
				t.Fatal("after ", name)
			}
		}
	})
}

// TestFixUnderPermanentFaults has writes that never succeed. The other writes do, and the next run completes the rest.
func TestFixUnderPermanentFaults(t *testing.T) {
	t.Parallel()
	underBothHelms(t, func(t *testing.T, c *faultCase) {
		for name, test := range map[string]struct {
			does writeFault
			exit int
			want string
		}{
			"down":    {respond(503, metav1.StatusReasonServiceUnavailable), 1, "creds fixed, conf failed, lost fixed, web fixed, demo fixed"},
			"refused": {respond(400, metav1.StatusReasonBadRequest), 2, "creds fixed, conf refused, lost fixed, web fixed, demo fixed"},
		} {
			c.drift(t)
			c.setFaults(func(_ int, r *http.Request) writeFault {
				if strings.HasSuffix(r.URL.Path, "/conf") {
					return test.does
				}
				return nil
			})
			if out, result := c.runFix(t, "--timeout", "15s"); out.exit != test.exit || result.statuses() != test.want {
				t.Errorf("%s: exit %d: %s", name, out.exit, strings.Join(result.lines(), "\n"))
			}
			c.mustComplete(t)
		}
	})
}

// TestFixThrottled has a server that turns away each write that is its third request. An attempt of fix has three requests: two reads and a
// write.
func TestFixThrottled(t *testing.T) {
	t.Parallel()
	underBothHelms(t, func(t *testing.T, c *faultCase) {
		for phase := range 3 {
			c.drift(t, "configmap/conf")
			c.setFaults(func(int, *http.Request) writeFault {
				if (c.faultProxy.requests+phase)%3 == 0 {
					return throttle
				}
				return nil
			})
			if out, result := c.runFix(t, "--timeout", "8s"); out.exit != 0 {
				t.Errorf("phase %d: exit %d: %s", phase, out.exit, strings.Join(result.lines(), "\n"))
			}
			c.mustBeRestored(t)
		}
	})
}

// TestFixOwnershipPatchFails checks that the values are back and reported so, and that the next run hands over their ownership.
func TestFixOwnershipPatchFails(t *testing.T) {
	t.Parallel()
	c := newFaultCase(t, true)
	c.drift(t, "configmap/conf")
	c.setFaults(nthWrite(2, respond(403, metav1.StatusReasonForbidden)))
	out, result := c.runFix(t)
	if got := result.Results[0]; out.exit != 1 || got.Status != "failed" || !strings.Contains(got.Reason, "the values are back, but helm does not own them yet") {
		t.Errorf("exit %d: %+v", out.exit, got)
	}
	if diff := cmp.Diff(c.wantObjects, c.objects(t)); diff != "" {
		t.Errorf("objects (-before the drift +now):\n%s", diff)
	}
	c.mustComplete(t)
}

// TestFixKilled kills the process before its first write and after each write that the API server has executed, also between the two
// patches of an object. Each object is then as it was before the drift or as the drift left it, and the next run completes the rest.
func TestFixKilled(t *testing.T) {
	t.Parallel()
	underBothHelms(t, func(t *testing.T, c *faultCase) {
		kill := func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
			_ = c.process.Kill()
			closeConnection(w, r, pass)
		}
		writes := map[bool]int{false: 3, true: 5}[c.by4]
		for at, ended := 0, false; !ended; at++ {
			c.drift(t, "configmap/conf", "configmap/lost", "deployment/web")
			drifted := c.objects(t)
			c.setFaults(nthWrite(at, afterServer(kill)))
			if at == 0 {
				c.setFaults(nthWrite(1, kill))
			}
			end, text := c.startFix(t)
			if ended = end.Exited(); ended && at <= writes {
				t.Errorf("write %d: %v\n%s", at, end, text)
			}
			now := c.objects(t)
			for name, is := range now {
				if !cmp.Equal(is, drifted[name]) && !cmp.Equal(is, c.wantObjects[name]) {
					t.Errorf("killed at write %d, %s is neither restored nor drifted:\n%s", at, name, cmp.Diff(c.wantObjects[name], is))
				}
			}
			if at == 0 && !cmp.Equal(now, drifted) {
				t.Error("something was written")
			}
			c.mustComplete(t)
		}
	})
}

// TestFixInterrupted checks that fix finishes and reports the write in flight and begins no other, after Ctrl-C and when its terminal is
// closed.
func TestFixInterrupted(t *testing.T) {
	t.Parallel()
	underBothHelms(t, func(t *testing.T, c *faultCase) {
		signal := os.Interrupt
		if c.by4 && !ossignal.Ignored(syscall.SIGHUP) { // the child ignores what the test ignores
			signal = syscall.SIGHUP
		}
		var now map[string]any
		var web any
		for try := 1; ; try++ {
			c.drift(t, "configmap/conf", "deployment/web")
			web = c.objects(t)["deployment/web"]
			answered := make(chan time.Duration, 1)
			c.setFaults(nthWrite(1, func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
				signalled := time.Now()
				if err := c.process.Signal(signal); err != nil {
					t.Error(err)
				}
				awaitRest(t, c.process.Pid)
				pass.ServeHTTP(w, r)
				answered <- time.Since(signalled)
			}))
			state, text := c.startFix(t)
			if !state.Exited() || state.ExitCode() != 1 || !strings.Contains(text, "interrupted") {
				t.Errorf("%v\n%s", state, text)
			}
			now = c.objects(t)
			// A command ends two seconds after a signal, whether the server has answered or not.
			took := <-answered
			if took < 1500*time.Millisecond || try == 3 {
				break
			}
			t.Logf("the server answered the write %s after the signal; once more", took)
			c.mustComplete(t)
		}
		if !cmp.Equal(now["configmap/conf"], c.wantObjects["configmap/conf"]) || !cmp.Equal(now["deployment/web"], web) {
			t.Errorf("not what one write leaves:\n%s", cmp.Diff(c.wantObjects, now))
		}
		if len(c.proxy.recorded().written) != 1 {
			t.Error("more than one write was sent")
		}
		c.mustComplete(t)
	})
}

// awaitRest waits until a process has handled a signal: none of its threads runs, and none has run since the check before. The handler
// of Go's runtime runs in a thread before anything else does. Without /proc it only gives the process some time. A command goes on for a
// while after a signal (lastWork in cmd/helmdrift), and the write has to arrive within that time, so awaitRest gives up after half of it.
func awaitRest(t *testing.T, pid int) {
	t.Helper()
	threads := fmt.Sprintf("/proc/%d/task/*/status", pid)
	limit := time.Now().Add(900 * time.Millisecond)
	for before := ""; time.Now().Before(limit); {
		names, _ := filepath.Glob(threads)
		if len(names) == 0 {
			time.Sleep(time.Second)
			return
		}
		now, sleeps := "", true
		for _, name := range names {
			text, _ := os.ReadFile(name)
			now += string(text)
			sleeps = sleeps && strings.Contains(string(text), "State:\tS")
		}
		if sleeps && now == before {
			return
		}
		before = now
		time.Sleep(time.Millisecond)
	}
}

// TestFixWithConcurrentWriters has controllers that constantly write other fields of the same objects. No update is lost.
func TestFixWithConcurrentWriters(t *testing.T) {
	t.Parallel()
	underBothHelms(t, func(t *testing.T, c *faultCase) {
		c.drift(t)
		annotate := func(i int) string { return fmt.Sprintf(`{"metadata":{"annotations":{"t%d":"x"}}}`, i) }
		stops := map[string]func() int{
			"configmap/conf": c.startWriter(t, "configmap/conf", busyInterval, types.MergePatchType, annotate),
			"deployment/web": c.startWriter(t, "deployment/web", busyInterval, types.MergePatchType, annotate),
		}
		// This slower controller writes into the list that gets an item back and is therefore replaced as a whole.
		list := c.startWriter(t, "deployment/web", 25*busyInterval, types.StrategicMergePatchType, func(i int) string {
			return fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"app","env":[{"name":"THEIRS","value":"%d"}]}]}}}}`, i)
		})
		out, result := c.runFix(t)
		wrote := map[string]int{"list": list()}
		for object, stop := range stops {
			wrote[object] = stop()
		}
		if got := result.statuses(); out.exit != 0 || got != allFixed {
			t.Errorf("exit %d: %s\n%s", out.exit, strings.Join(result.lines(), "\n"), out.stderr)
		}
		path, err := parsePath("spec.template.spec.containers[name=app].env[name=THEIRS].value")
		must(t, err)
		if last, _ := path.lookup(c.objects(t)["deployment/web"].(map[string]any)); last != fmt.Sprint(wrote["list"]) {
			t.Errorf("the controller's %d became %v", wrote["list"], last)
		}
		must(t, c.patch("others", "deployment/web", `{spec: {template: {spec: {containers: [{name: app, env: [{name: THEIRS, value: x}]}]}}}}`))
		now := c.objects(t)
		for object := range stops {
			annotations, _, _ := unstructured.NestedMap(now[object].(map[string]any), "metadata", "annotations")
			for i := range wrote[object] {
				if name := fmt.Sprintf("t%d", i+1); annotations[name] == nil {
					t.Errorf("%s: the controller's %s is lost", object, name)
				}
				unstructured.RemoveNestedField(now[object].(map[string]any), "metadata", "annotations", fmt.Sprintf("t%d", i+1))
			}
		}
		if diff := cmp.Diff(c.wantObjects, now); diff != "" {
			t.Errorf("objects (-before the drift +now):\n%s", diff)
		}
		if diff := cmp.Diff(c.wantOwnership, c.ownership(t)); diff != "" {
			t.Errorf("ownership (-before the drift +now):\n%s", diff)
		}
	})
}

// TestFixLeavesWrittenFields has a controller that writes the planned field. Fix leaves the field to it and puts the rest back.
func TestFixLeavesWrittenFields(t *testing.T) {
	t.Parallel()
	underBothHelms(t, func(t *testing.T, c *faultCase) {
		for name, body := range map[string]func(int) string{
			"other values": func(i int) string { return fmt.Sprintf(`{"data":{"a":"v%d"}}`, i) },
			"the drift":    func(int) string { return `{"data":{"a":"drifted"}}` },
		} {
			c.drift(t)
			stop := c.startWriter(t, "configmap/conf", busyInterval, types.MergePatchType, body)
			out, result := c.runFix(t)
			wrote := stop()
			written := 0
			for _, call := range out.traffic.written {
				if strings.Contains(call, "/conf?") {
					written++
				}
			}
			// Fix may write the value once, and the ownership once.
			if out.exit != 2 || result.statuses() != strings.Replace(allFixed, "conf fixed", "conf declined", 1) || written > 2 {
				t.Errorf("%s: exit %d after %d writes: %s\n%s", name, out.exit, written, strings.Join(result.lines(), "\n"), out.stderr)
			}
			var last struct{ Data map[string]string }
			must(t, json.Unmarshal([]byte(body(wrote)), &last))
			conf := c.objects(t)["configmap/conf"].(map[string]any)
			if got, _, _ := unstructured.NestedString(conf, "data", "a"); got != last.Data["a"] {
				t.Errorf("%s: the controller's %v became %v", name, last.Data["a"], got)
			}
			must(t, c.patch("kubectl-edit", "configmap/conf", `{data: {a: drifted}}`))
			c.mustComplete(t)
		}
	})
}

// TestFixDuringUpgrade has Helm upgrade the release while a write of a value, or of a missing object, is in transit. Fix undoes nothing
// of the upgrade.
func TestFixDuringUpgrade(t *testing.T) {
	t.Parallel()
	underBothHelms(t, func(t *testing.T, c *faultCase) {
		for i, at := range []string{"/creds", "/lost"} {
			c.drift(t)
			var upgraded, owned, records map[string]any
			upgrade := func() {
				args := []string{"upgrade", "app.yaml", "--set", fmt.Sprintf("v=new%d", i)}
				if c.by4 {
					args = append(args, "--force-conflicts")
				}
				if err := c.helm(c.by4, args...); err != nil {
					t.Error(err)
				}
				upgraded, owned, records = c.objects(t), c.ownership(t), c.history(t)
			}
			c.setFaults(c.firstWriteOf(at, afterDoing(upgrade)))
			out, result := c.runFix(t)
			if upgraded == nil {
				t.Fatalf("%s was not written: %s", at, strings.Join(result.lines(), "\n"))
			}
			want := "creds failed, conf failed, lost failed, web failed, demo failed"
			if at == "/lost" {
				want = "creds fixed, conf fixed, lost failed, web failed, demo failed"
			}
			if got := result.statuses(); out.exit != 1 || got != want {
				t.Errorf("exit %d: %s\n%s", out.exit, strings.Join(result.lines(), "\n"), out.stderr)
			}
			c.wantObjects, c.wantOwnership, c.wantRecords = upgraded, owned, records
			c.mustBeRestored(t)
		}
	})
}

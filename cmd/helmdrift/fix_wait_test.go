package main

import (
	"bytes"
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch"
	"golang.org/x/tools/txtar"

	"github.com/helmdrift/helmdrift/internal/cli"
)

// waitCase is the release of fix-wait.txtar. Its Deployment does not come up.
type waitCase struct {
	plane
	kubeconfig string
}

// newWaitCase serves the release. OnLook is called while the API server answers a look at the events, which comes after the writes.
func newWaitCase(t *testing.T, onLook func(c *waitCase)) *waitCase {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/script/fix-wait.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	c := &waitCase{kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	server, err := c.start(c.kubeconfig, files["manifest.yaml"], files["live.yaml"], "deployed")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	c.meanwhile = func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events") {
			onLook(c)
		}
	}
	return c
}

// edit makes a JSON merge patch of the Deployment, as somebody else.
func (c *waitCase) edit(t *testing.T, patch string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.change("/apis/apps/v1/namespaces/prod/deployments/web", func(doc []byte) ([]byte, error) {
		return jsonpatch.MergePatch(doc, []byte(patch))
	})
	if err != nil {
		t.Error(err)
	}
}

// fix runs fix --wait.
func (c *waitCase) fix(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(ctx, append([]string{"fix", "web", "--yes", "--wait", "--kubeconfig", c.kubeconfig}, args...),
		cli.Streams{In: strings.NewReader(""), Out: &out, Err: &err, Env: func(string) string { return "" }})
	return code, out.String(), err.String()
}

// TestWaitInterrupted checks that an interrupt ends the wait, and that the result has the comparison before the wait and says how
// far the objects are.
func TestWaitInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	looks := 0
	c := newWaitCase(t, func(*waitCase) {
		if looks++; looks == 2 {
			interrupt()
		}
	})
	start := time.Now()
	code, stdout, stderr := c.fix(ctx)
	for _, want := range []string{
		"\nfixed: ConfigMap settings, Deployment web\nup: ConfigMap settings\n" +
			"interrupted while waiting: Deployment web: 1 of 2 pods updated, 1 ready, 1 unavailable\n" +
			"  │ pod web-new-1, container web: CrashLoopBackOff: exit code 3",
		"\nweb is as Helm deployed it: 2 fields put back\n1 of 2 objects is not up; nothing was rolled back\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("stdout\n%s\nlacks\n%s", stdout, want)
		}
	}
	if code != cli.ExitFailure || !strings.HasSuffix(stderr, "Hint: what was put back stays; kubectl describe pod/web-new-1 -n prod says more\n") {
		t.Errorf("code %d, stderr\n%s", code, stderr)
	}
	if time.Since(start) > time.Minute {
		t.Error("the interrupt did not end the wait")
	}
}

// TestWaitConfirms checks that an object whose drift returns while fix waits is not called fixed, although it comes up.
func TestWaitConfirms(t *testing.T) {
	c := newWaitCase(t, func(c *waitCase) {
		c.edit(t, `{"spec": {"replicas": 7}, "status": {"replicas": 7, "updatedReplicas": 7, "readyReplicas": 7, "availableReplicas": 7,
			"conditions": [{"type": "Available", "status": "True"}]}}`)
	})
	code, stdout, _ := c.fix(t.Context())
	if code != cli.ExitSelected || !strings.Contains(stdout, "\ndeclined: spec.replicas of Deployment web: ") ||
		!strings.Contains(stdout, "\nup: ConfigMap settings, Deployment web\n") {
		t.Errorf("code %d, stdout\n%s", code, stdout)
	}
}

// TestWaitNamesProblemsAtOnce checks that a problem is printed long before the wait ends.
func TestWaitNamesProblemsAtOnce(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	c := newWaitCase(t, func(*waitCase) {})
	printed := make(chan string, 100)
	begun := time.Now()
	go run(ctx, []string{"fix", "web", "--yes", "--wait", "--kubeconfig", c.kubeconfig},
		cli.Streams{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: lineWriter(printed), Env: func(string) string { return "" }})
	select {
	case line := <-printed:
		const want = "not up yet: Deployment web: pod web-new-1, container web: CrashLoopBackOff"
		if !strings.HasPrefix(line, want) || time.Since(begun) > 30*time.Second {
			t.Errorf("%q", line)
		}
	case <-time.After(time.Minute):
		t.Error("nothing was printed")
	}
}

// lineWriter sends what is written to a channel.
type lineWriter chan string

func (w lineWriter) Write(text []byte) (int, error) {
	w <- string(text)
	return len(text), nil
}

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Case is one story: a namespace of its own, a release in it, and the operations on them.
type Case struct {
	cluster *cluster
	// ns is the namespace of the objects of the release, and storage is the namespace of its records.
	ns, storage, release string
	// dir contains the files of the story.
	dir string
	// env is added to the environment of the binary; HELM_DRIVER also applies to the library.
	env   map[string]string
	proxy *proxy

	// opened is when the story began.
	opened time.Time

	// call is the last deployment of a chart, which proves repeats.
	call helmCall
	last binaryRun

	// fromSnapshots counts the diffs that were made from a snapshot, too.
	fromSnapshots int
	// rights is what TestRights does with the diffs of the story; nil in every other test.
	rights *rightsPlan
}

// binaryRun is one run of the binary.
type binaryRun struct {
	args           []string
	exit           int
	stdout, stderr string
	report         *driftReport
	traffic        traffic
}

// newCase begins a story in a Go test.
func newCase(t testing.TB, on *cluster) *Case {
	t.Helper()
	c, err := openCase(on, t.TempDir(), t.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return c
}

// openCase creates the namespace of a story. The server completes its name.
func openCase(on *cluster, dir, name string) (*Case, error) {
	c := &Case{cluster: on, release: "r", dir: dir, env: map[string]string{}, opened: time.Now()}
	namespace, err := c.newNamespace(name)
	if err != nil {
		return nil, err
	}
	c.ns, c.storage = namespace, namespace
	c.proxy, err = startProxy(on, dir)
	return c, err
}

func (c *Case) newNamespace(name string) (string, error) {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	if len(clean) > 30 {
		clean = clean[:30]
	}
	obj := &unstructured.Unstructured{}
	obj.SetAPIVersion("v1")
	obj.SetKind("Namespace")
	obj.SetGenerateName("e2e-" + strings.Trim(clean, "-") + "-")
	made, err := c.cluster.Client.Resource(namespaces).Create(context.Background(), obj, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return made.GetName(), nil
}

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// close ends a story. On a cluster that outlives the tests it uninstalls the release and deletes the namespace, without waiting.
func (c *Case) close() {
	c.proxy.close()
	if os.Getenv(kubeconfigEnv) == "" {
		return
	}
	_, _ = c.run(helmCall{verb: "uninstall"})
	for _, name := range []string{c.ns, c.storage} {
		_ = c.cluster.Client.Resource(namespaces).Delete(context.Background(), name, metav1.DeleteOptions{})
	}
}

// driver returns Helm's storage driver.
func (c *Case) driver() string { return c.env["HELM_DRIVER"] }

// helm calls a Helm and records the call for proves.
func (c *Case) helm(by4 bool, args ...string) error {
	call, err := c.parseHelm(args)
	if err != nil {
		return err
	}
	call.by4 = by4
	if _, err := c.run(call); err != nil {
		return err
	}
	if call.chart != "" {
		c.call = call
	}
	return nil
}

// run calls the library of Helm 3 or Helm 4 and returns the manifest of what it installed or upgraded.
func (c *Case) run(call helmCall) (string, error) {
	return call.named(func() (string, error) {
		if call.by4 {
			return c.helm4(call)
		}
		return c.helm3(call)
	})
}

// ref parses kind/name in the namespace of the story.
func (c *Case) ref(text string) (ref, error) { return parseRef(text, c.ns) }

// patch edits an object as a field manager.
func (c *Case) patch(manager, object, body string, subresources ...string) error {
	r, err := c.ref(object)
	if err != nil {
		return err
	}
	return c.cluster.patch(context.Background(), r, manager, body, subresources...)
}

// scale does what kubectl scale does.
func (c *Case) scale(object string, replicas string) error {
	return c.patch("kubectl", object, "{spec: {replicas: "+replicas+"}}", "scale")
}

// diff runs helmdrift diff through the proxy. It fails if the binary did anything except read (or, with --dry-run=server, try a write), or
// printed a report that violates its schema.
func (c *Case) diff(args ...string) (binaryRun, error) {
	all := append([]string{"diff"}, c.named(args)...)
	if !strings.Contains(strings.Join(args, " "), "-o ") {
		all = append(all, "-o", "json")
	}
	out, err := c.binary(all...)
	if err == nil && strings.HasPrefix(out.stdout, "{") {
		out.report, err = decodeReport(out.stdout)
	}
	c.last = out
	return out, err
}

// named returns the arguments of a diff with the release of the story first, if they name none.
func (c *Case) named(args []string) []string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return append([]string{c.release}, args...)
	}
	return args
}

// binary runs helmdrift with any arguments.
func (c *Case) binary(args ...string) (binaryRun, error) {
	c.proxy.reset(permissionOf(args))
	var stdout, stderr bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	if c.proxy.kubeconfig != "" {
		args = append(args, "--kubeconfig", c.proxy.kubeconfig, "-n", c.storage)
	}
	cmd := exec.CommandContext(ctx, suite.binary, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, &stdout, &stderr
	cmd.Env = []string{"HOME=" + c.dir, "PATH=" + os.Getenv("PATH"), "GOCOVERDIR=" + os.Getenv("GOCOVERDIR")}
	for name, value := range c.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	err := cmd.Run()
	if exited := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exited) {
		return binaryRun{}, fmt.Errorf("run helmdrift: %w", err)
	}
	out := binaryRun{args: args, exit: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String(), traffic: c.proxy.recorded()}
	switch {
	case out.exit < 0 || out.exit > 2:
		return out, fmt.Errorf("helmdrift ended with %v\n%s", cmd.ProcessState, out.stderr)
	case len(out.traffic.refused) > 0:
		return out, fmt.Errorf("helmdrift sent requests that are not permitted: %q", out.traffic.refused)
	}
	return out, nil
}

// permissionOf returns what a run with these arguments may do.
func permissionOf(args []string) permission {
	switch {
	case slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--dry-run") }):
		return permitDryRuns
	case len(args) > 0 && args[0] == "fix" || slices.Contains(args, "--fix"):
		return permitWrites
	}
	return permitReads
}

// must ends the test if the harness returns an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// want compares a run with the expected lines of the report and the expected exit code.
func want(t *testing.T, out binaryRun, exit int, lines string) {
	t.Helper()
	var got string
	if out.report != nil {
		got = strings.Join(out.report.lines(), "\n")
	}
	if out.exit != exit || got != lines {
		t.Fatalf("exit %d, want %d\n%s\nwant\n%s\n%s", out.exit, exit, got, lines, out.stderr)
	}
}

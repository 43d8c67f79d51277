package e2e

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/repo"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var fluxDir = flag.String("flux", "", "folder with the controllers of Flux and their definitions, which make flux builds")

// TestFlux runs the scripts of testdata/flux, where the controllers of Flux deploy the releases. Besides the commands of TestStories,
// they have:
//
//	publish CHART     packages a chart into the HelmRepository of the story, which is called charts
//	push CHART        pushes a chart into a registry, and makes a HelmRepository of it, oci, and an OCIRepository, web
//	registry CHART    does what push does, and waits until Flux has the chart of the OCIRepository
//	bucket FOLDER     does what put does, and makes a Bucket of it, files; it waits until Flux has its objects, and the charts in it
//	reconcile NAME    asks Flux to reconcile a HelmRelease, waits until it is ready, and prints its conditions
//	next NAME [FLAGS] runs diff hr/NAME and prints the lines of the report and the exit code
//	freeze            stops helm-controller until judge, so that it does not act on an edit before diff has predicted that
//	judge NAME        lets helm-controller go on, and checks that it does to the HelmRelease what the last diff said: the action, and for an
//	                  upgrade every object as proves does
func TestFlux(t *testing.T) {
	if *fluxDir == "" {
		t.Skip("-flux names no folder with the controllers of Flux; make flux builds them")
	}
	startFluxSources(t)
	controller := startController(t, "helm-controller", nil)
	added := fluxCommands(t)
	added["reconcile"] = adapt("reconcile", command{[]string{"NAME"}, func(c *Case, args []string) (string, error) {
		return c.reconcile("helmreleases.helm.toolkit.fluxcd.io/" + args[0])
	}})
	added["freeze"] = adapt("freeze", command{[]string{}, silent(func(*Case, []string) error { return controller.signal("STOP") })})
	added["judge"] = adapt("judge", command{[]string{"NAME"}, silent(func(c *Case, args []string) error {
		return c.judgeFlux(controller, args[0])
	})})
	added["next"] = adapt("next", command{run: func(c *Case, args []string) (string, error) {
		out, err := c.diff(append([]string{"hr/" + args[0]}, args[1:]...)...)
		text := out.stderr
		if err == nil && out.report != nil {
			text += strings.Join(append(out.report.lines(), ""), "\n")
		}
		return text + fmt.Sprintf("exit %d\n", out.exit), err
	}})
	t.Run("flux", func(t *testing.T) {
		testscript.Run(t, testscript.Params{Dir: "testdata/flux", UpdateScripts: *update, Setup: openStory, Cmds: added})
	})
	// A controller that is frozen makes other scripts wait, so those that freeze it run one after the other.
	alone, err := filepath.Glob("testdata/flux/next/*.txtar")
	must(t, err)
	for _, file := range alone {
		t.Run("next", func(t *testing.T) {
			testscript.Run(t, testscript.Params{Files: []string{file}, UpdateScripts: *update, Setup: openStory, Cmds: added})
		})
	}
	runFluxSeeds(t, func(t *testing.T, p testscript.Params) {
		p.Setup, p.Cmds = openStory, added
		testscript.Run(t, p)
	})
}

// fluxCommands returns the commands of all scripts with Flux, and starts the servers that they need.
func fluxCommands(t *testing.T) map[string]func(*testscript.TestScript, bool, []string) {
	t.Helper()
	dir := t.TempDir()
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	host := startRegistry(t)
	added := commands()
	added["bucket"] = adapt("bucket", command{[]string{"FOLDER"}, silent(func(c *Case, args []string) error {
		if err := storyBuckets().put(c, args[0]); err != nil {
			return err
		}
		return storyBuckets().reconcile(c)
	})})
	added["publish"] = adapt("publish", command{[]string{"CHART"}, silent(func(c *Case, args []string) error {
		return c.publish(args[0], filepath.Join(dir, c.ns), server.URL+"/"+c.ns)
	})})
	added["registry"] = adapt("registry", command{[]string{"CHART"}, silent(func(c *Case, args []string) error {
		return c.pushAndWait(args[0], host)
	})})
	added["push"] = adapt("push", command{[]string{"CHART"}, silent(func(c *Case, args []string) error { return c.push(args[0], host) })})
	return added
}

// startFluxSources installs the definitions of Flux and starts source-controller, which ends with the test.
func startFluxSources(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(*fluxDir, "*.yaml"))
	must(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		must(t, suite.cluster.serverApply(t.Context(), string(text), "", "flux"))
		group, plural, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".yaml"), "_")
		definition := ref{resource: "customresourcedefinition", name: plural + "." + group}
		must(t, suite.cluster.waitFor(t.Context(), definition, "Established", isEstablished))
	}
	suite.cluster.Mapper.Reset()
	artifacts, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := artifacts.Addr().String()
	must(t, artifacts.Close())
	startController(t, "source-controller", nil, "--storage-path="+t.TempDir(), "--storage-addr="+address, "--storage-adv-addr="+address)
}

// startController starts a controller with further variables of its environment. A shell ends it when its standard input does, so that it
// does not outlive a test that is killed.
func startController(t testing.TB, name string, env []string, args ...string) fluxController {
	t.Helper()
	const untilStdinEnds = `"$@" & echo $! > "$PIDFILE"; cat > /dev/null; kill -9 $!; wait`
	number := filepath.Join(t.TempDir(), "pid")
	args = append([]string{"-c", untilStdinEnds, "sh", filepath.Join(*fluxDir, name), "--metrics-addr=0", "--health-addr=0"}, args...)
	process := exec.Command("sh", args...)
	process.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "KUBECONFIG=" + suite.cluster.kubeconfig, "PIDFILE=" + number}
	process.Env = append(process.Env, env...)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	must(t, err)
	process.Stdout, process.Stderr = log, log
	stdin, err := process.StdinPipe()
	must(t, err)
	must(t, process.Start())
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = process.Wait()
		if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("the log of %s:\n%s", name, text)
		}
	})
	return fluxController{number}
}

// publish packages a chart into a folder that is served at url, and makes a HelmRepository of it.
func (c *Case) publish(name, dir, url string) error {
	path, err := c.chart(name)
	if err != nil {
		return err
	}
	chart, err := loader.Load(path)
	if err != nil {
		return err
	}
	if _, err := chartutil.Save(chart, dir); err != nil {
		return err
	}
	index, err := repo.IndexDirectory(dir, url)
	if err != nil {
		return err
	}
	if err := index.WriteFile(filepath.Join(dir, "index.yaml"), 0o644); err != nil {
		return err
	}
	return c.cluster.serverApply(context.Background(), fmt.Sprintf(
		"{apiVersion: source.toolkit.fluxcd.io/v1, kind: HelmRepository, metadata: {name: charts, annotations: {%s: %q}}, "+
			"spec: {url: %q, interval: 1h}}", reconcileRequest, time.Now().Format(time.RFC3339Nano), url), c.ns, "kubectl")
}

// reconcileRequest is the annotation that asks Flux to reconcile an object now.
const reconcileRequest = "reconcile.fluxcd.io/requestedAt"

// reconcile asks Flux to reconcile a HelmRelease, waits until it is ready, and returns its conditions.
func (c *Case) reconcile(object string) (string, error) {
	r, err := c.ref(object)
	if err != nil {
		return "", err
	}
	now := time.Now().Format(time.RFC3339Nano)
	if err := c.patch("flux", object, fmt.Sprintf("{metadata: {annotations: {%s: %q}}}", reconcileRequest, now)); err != nil {
		return "", err
	}
	var conditions string
	err = c.cluster.waitFor(context.Background(), r, "readiness", func(hr *unstructured.Unstructured) bool {
		handled, _, _ := unstructured.NestedString(hr.Object, "status", "lastHandledReconcileAt")
		observed, _, _ := unstructured.NestedInt64(hr.Object, "status", "observedGeneration")
		conditions = conditionsOf(hr)
		return handled == now && observed == hr.GetGeneration() && strings.Contains("\n"+conditions, "\nReady=True ")
	})
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, conditions)
	}
	return conditions, nil
}

// conditionsOf returns a line TYPE=STATUS MESSAGE for each condition of an object.
func conditionsOf(object *unstructured.Unstructured) string {
	var b strings.Builder
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, condition := range conditions {
		if c, ok := condition.(map[string]any); ok {
			fmt.Fprintf(&b, "%v=%v %v\n", c["type"], c["status"], c["message"])
		}
	}
	return b.String()
}

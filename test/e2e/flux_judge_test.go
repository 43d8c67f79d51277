package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/distribution/distribution/v3/configuration"
	"github.com/distribution/distribution/v3/registry/handlers"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/registry"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// startRegistry starts a registry on this machine and returns its host.
func startRegistry(t *testing.T) string {
	t.Helper()
	config := &configuration.Configuration{Storage: configuration.Storage{"inmemory": {}}}
	config.Log.Level, config.Log.AccessLog.Disabled = "fatal", true
	server := httptest.NewServer(handlers.NewApp(context.Background(), config))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// push pushes a chart into a registry and makes the sources of it.
func (c *Case) push(name, host string) error {
	path, err := c.chart(name)
	if err != nil {
		return err
	}
	chart, err := loader.Load(path)
	if err != nil {
		return err
	}
	packed, err := chartutil.Save(chart, c.dir)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Clean(packed))
	if err != nil {
		return err
	}
	client, err := registry.NewClient(registry.ClientOptPlainHTTP())
	if err != nil {
		return err
	}
	where := host + "/" + c.ns
	if _, err := client.Push(text, where+"/"+chart.Name()+":"+chart.Metadata.Version); err != nil {
		return err
	}
	now := time.Now().Format(time.RFC3339Nano)
	return c.cluster.serverApply(context.Background(), fmt.Sprintf(`
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: oci}
spec: {type: oci, url: "oci://%[1]s", insecure: true, interval: 1h}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: web, annotations: {%[2]s: %[3]q}}
spec:
  url: "oci://%[1]s/web"
  insecure: true
  interval: 1h
  ref: {semver: "*"}
  layerSelector: {mediaType: application/vnd.cncf.helm.chart.content.v1.tar+gzip, operation: copy}
`, where, reconcileRequest, now), c.ns, "kubectl")
}

// fluxController is a running controller. Its file has the number of its process.
type fluxController struct{ pidFile string }

// signal sends a signal to the controller, which may just be starting.
func (f fluxController) signal(name string) error {
	var number []byte
	err := poll(context.Background(), "the number of the controller", func() (bool, error) {
		number, _ = os.ReadFile(f.pidFile)
		return len(number) > 0, nil
	})
	if err != nil {
		return err
	}
	return exec.Command("kill", "-"+name, strings.TrimSpace(string(number))).Run()
}

// fluxRevision is what a HelmRelease says of its last revision.
type fluxRevision struct {
	target, name, chart string
	version             int64
}

// fluxRevisionOf returns the last revision of a HelmRelease, or the zero value if there is none.
func (c *Case) fluxRevisionOf(r ref) (fluxRevision, error) {
	hr, err := c.cluster.get(context.Background(), r)
	if err != nil {
		return fluxRevision{}, err
	}
	history, _, _ := unstructured.NestedSlice(hr.Object, "status", "history")
	if len(history) == 0 {
		return fluxRevision{}, nil
	}
	last, _ := history[0].(map[string]any)
	storage, _, _ := unstructured.NestedString(hr.Object, "status", "storageNamespace")
	version, _ := last["version"].(int64)
	return fluxRevision{
		target: fmt.Sprint(storage, last["namespace"], last["name"]), name: fmt.Sprint(last["name"]),
		chart: fmt.Sprint(last["chartName"]), version: version,
	}, nil
}

// written returns the objects of the last report with what helm-controller has written to each: its entries in managedFields, and none for
// an object that is not there.
func (c *Case) written() (map[ref]string, error) {
	out := map[ref]string{}
	for _, o := range c.last.report.Releases[0].Objects {
		r, err := c.ref(strings.ToLower(o.Kind) + "/" + o.Name)
		if err == nil {
			out[r], err = c.writtenByFlux(r)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// writtenByFlux returns the entries of helm-controller in the managedFields of an object.
func (c *Case) writtenByFlux(r ref) (string, error) {
	live, err := c.cluster.get(context.Background(), r)
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, entry := range live.GetManagedFields() {
		if entry.Manager == "helm-controller" {
			fmt.Fprintln(&out, entry.Operation, entry.Time, entry.FieldsV1)
		}
	}
	return out.String(), nil
}

// corrected reports whether helm-controller has written to one of these objects.
func (c *Case) corrected(before map[ref]string) (bool, error) {
	for r, was := range before {
		now, err := c.writtenByFlux(r)
		if err != nil || now != was {
			return err == nil, err
		}
	}
	return false, nil
}

// judgeFlux lets helm-controller go on and compares what it does with what the last diff said.
func (c *Case) judgeFlux(controller fluxController, name string) error {
	if c.last.report == nil || len(c.last.report.Releases) == 0 || c.last.report.Releases[0].Deployer == nil {
		return errors.New("judge: the last report has no deployer")
	}
	predicted := c.last.report.Releases[0].Deployer
	object := "helmreleases.helm.toolkit.fluxcd.io/" + name
	r, err := c.ref(object)
	if err != nil {
		return err
	}
	before, err := c.fluxRevisionOf(r)
	if err != nil {
		return err
	}
	written, err := c.written()
	if err != nil {
		return err
	}
	acts := func() error {
		if err := controller.signal("CONT"); err != nil {
			return err
		}
		_, err := c.reconcile(object)
		return err
	}
	// An incomplete report says nothing about objects, and the exit code says that.
	if isComplete := len(c.last.report.Releases[0].Errors) == 0; isComplete && (predicted.Action == "upgrade" || predicted.Action == "install") {
		err = c.provesBy(acts)
	} else {
		err = acts()
	}
	if err != nil {
		return err
	}
	after, err := c.fluxRevisionOf(r)
	if err != nil {
		return err
	}
	done := "none"
	switch {
	case before == (fluxRevision{}):
		done = "install"
	case before.target != after.target || before.chart != after.chart && after.version == 1:
		done = "reinstall"
	case before.version != after.version:
		done = "upgrade"
	}
	said := predicted.Action
	if said == "blocked" {
		said = "none"
	}
	if done == "none" {
		corrected, err := c.corrected(written)
		if err != nil {
			return err
		}
		if corrected {
			done = "correct"
		}
	}
	if said != done {
		return fmt.Errorf("diff says %s (%s), and Flux did: %s; revision %+v became %+v", predicted.Action, predicted.Reason, done, before, after)
	}
	return nil
}

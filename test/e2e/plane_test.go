package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helmdrift/helmdrift/test/e2e/harness"
)

// controlplaneModule is the module of the launcher.
const controlplaneModule = "../controlplane"

// buildLauncher compiles the launcher once.
var buildLauncher = sync.OnceValues(func() (string, error) {
	path := filepath.Join(suite.dir, "controlplane")
	build := exec.Command("go", "build", "-o", path, "./cmd/controlplane")
	build.Dir = controlplaneModule
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the control plane's launcher: %w\n%s", err, out)
	}
	return path, nil
})

// allComponents are the components that a control plane may have in addition to its API server.
var allComponents = []string{"--controllers", "--fake-nodes=3"}

// startPlane starts a control plane with the given components. The first start on a machine compiles the servers, which takes minutes.
func startPlane(ctx context.Context, parts ...string) (*harness.Plane, error) {
	launcher, err := buildLauncher()
	if err != nil {
		return nil, err
	}
	var log bytes.Buffer
	p, err := harness.Launcher{Path: launcher, Module: controlplaneModule, Log: &log}.Start(ctx, parts...)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, log.String())
	}
	return p, nil
}

// quietPlane is the control plane without controllers, which several tests share: nobody changes the objects on it but the tests and the
// API server. It writes an audit log. quietCluster starts it.
type quietPlane struct {
	*harness.Plane
	on *cluster
}

// startQuietPlane starts the quiet plane once.
var startQuietPlane = sync.OnceValues(func() (q quietPlane, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if q.Plane, err = startPlane(ctx, "--audit"); err != nil {
		return q, err
	}
	suite.stopQuiet = q.Stop
	if q.on, err = newCluster(q.Kubeconfig); err != nil {
		return q, err
	}
	exists := func(*unstructured.Unstructured) bool { return true }
	if err := q.on.waitFor(ctx, ref{resource: "namespace", name: "default"}, "creation", exists); err != nil {
		return q, err
	}
	return q, q.on.installCRDs(ctx)
})

// quietCluster returns the cluster of the quiet plane.
func quietCluster(t *testing.T) quietPlane {
	t.Helper()
	q, err := startQuietPlane()
	must(t, err)
	return q
}

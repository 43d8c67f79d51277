package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

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

// planeWithoutControllers starts a control plane for one test. Nobody changes the objects on it but the test and the API server.
func planeWithoutControllers(ctx context.Context, t *testing.T) *cluster {
	t.Helper()
	p, err := startPlane(ctx)
	must(t, err)
	t.Cleanup(p.Stop)
	on, err := newCluster(p.Kubeconfig)
	must(t, err)
	exists := func(*unstructured.Unstructured) bool { return true }
	must(t, on.waitFor(ctx, ref{resource: "namespace", name: "default"}, "creation", exists))
	return on
}

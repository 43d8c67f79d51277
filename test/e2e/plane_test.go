package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
)

// controlplaneModule is the module of the launcher. It links another version of Kubernetes and therefore runs as a process.
const controlplaneModule = "../controlplane"

// plane is a control plane of these tests. It runs until stop is called or this process ends: the launcher watches its standard input.
type plane struct {
	Kubeconfig string `json:"kubeconfig"`
	stop       func()
}

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
var allComponents = []string{"--controllers", "--fake-node"}

// startPlane starts a control plane with the given components. The first start on a machine compiles the servers, which takes minutes.
func startPlane(ctx context.Context, parts ...string) (*plane, error) {
	launcher, err := buildLauncher()
	if err != nil {
		return nil, err
	}
	process := exec.Command(launcher, append([]string{"start", "--foreground", "--module", controlplaneModule}, parts...)...)
	stdin, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var log bytes.Buffer
	process.Stderr = &log
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("start control plane: %w", err)
	}
	p := &plane{stop: sync.OnceFunc(func() {
		_ = stdin.Close()
		_ = process.Wait()
	})}
	if err := p.waitUntilReady(ctx, stdout); err != nil {
		p.stop()
		return nil, fmt.Errorf("start control plane: %w\n%s", err, log.String())
	}
	return p, nil
}

// waitUntilReady reads the one line that the launcher prints when everything is ready.
func (p *plane) waitUntilReady(ctx context.Context, stdout io.Reader) error {
	line := make(chan error, 1)
	go func() {
		text, err := bufio.NewReader(stdout).ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(text, p)
		}
		line <- err
	}()
	select {
	case err := <-line:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

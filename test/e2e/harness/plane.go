package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"sync"
)

// Launcher is the program that starts a control plane: test/controlplane/cmd/controlplane, compiled. Its module links another version of
// Kubernetes than the callers do, and therefore runs as a process.
type Launcher struct {
	Path string
	// Module is the folder of the sources of the servers.
	Module string
	// Log receives what the launcher says, such as the output of the compiler.
	Log io.Writer
}

// Start starts a control plane with the given components, such as --controllers, and waits until it is ready. The control plane runs until
// stop is called or this process ends, because the launcher watches its standard input. The first start on a machine compiles the servers,
// which takes minutes.
func (l Launcher) Start(ctx context.Context, components ...string) (kubeconfig string, stop func(), err error) {
	process := exec.Command(l.Path, append([]string{"start", "--foreground", "--module", l.Module}, components...)...)
	process.Stderr = l.Log
	stdin, err := process.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	stdout, err := process.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := process.Start(); err != nil {
		return "", nil, fmt.Errorf("start control plane: %w", err)
	}
	stop = sync.OnceFunc(func() {
		_ = stdin.Close()
		_ = process.Wait()
	})
	if kubeconfig, err = awaitReady(ctx, stdout); err != nil {
		stop()
		return "", nil, fmt.Errorf("start control plane: %w", err)
	}
	return kubeconfig, stop, nil
}

// awaitReady reads the one line that the launcher prints when everything is ready.
func awaitReady(ctx context.Context, stdout io.Reader) (kubeconfig string, err error) {
	var ready struct{ Kubeconfig string }
	line := make(chan error, 1)
	go func() {
		text, err := bufio.NewReader(stdout).ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(text, &ready)
		}
		line <- err
	}()
	select {
	case err := <-line:
		return ready.Kubeconfig, err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

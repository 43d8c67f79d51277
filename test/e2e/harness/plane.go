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

// Plane is a control plane that runs until Stop is called or this process ends, because the launcher watches its standard input.
type Plane struct {
	Kubeconfig string
	// AuditLog is the file of the API server's audit log; empty without --audit.
	AuditLog string
	// Stop ends everything. It may be called twice.
	Stop func()

	commands io.Writer
	answers  *bufio.Reader
}

// Start starts a control plane with the given components, such as --controllers, and waits until it is ready. The first start on a machine
// compiles the servers, which takes minutes.
func (l Launcher) Start(ctx context.Context, components ...string) (*Plane, error) {
	process := exec.Command(l.Path, append([]string{"start", "--foreground", "--module", l.Module}, components...)...)
	process.Stderr = l.Log
	stdin, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("start control plane: %w", err)
	}
	p := &Plane{commands: stdin, answers: bufio.NewReader(stdout), Stop: sync.OnceFunc(func() {
		_ = stdin.Close()
		_ = process.Wait()
	})}
	if err := p.read(ctx, p); err != nil {
		p.Stop()
		return nil, fmt.Errorf("start control plane: %w", err)
	}
	return p, nil
}

// Kill ends a program of the control plane, such as kube-apiserver, with SIGKILL. It returns when the process is gone.
func (p *Plane) Kill(ctx context.Context, program string) error { return p.tell(ctx, "kill "+program) }

// Restart starts a program again that was killed, and returns when it is ready.
func (p *Plane) Restart(ctx context.Context, program string) error {
	return p.tell(ctx, "restart "+program)
}

// tell sends a command to the launcher and waits for the answer.
func (p *Plane) tell(ctx context.Context, command string) error {
	if _, err := fmt.Fprintln(p.commands, command); err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	var answer struct{ Error string }
	if err := p.read(ctx, &answer); err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	if answer.Error != "" {
		return fmt.Errorf("%s: %s", command, answer.Error)
	}
	return nil
}

// read reads one line of the launcher.
func (p *Plane) read(ctx context.Context, into any) error {
	line := make(chan error, 1)
	go func() {
		text, err := p.answers.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(text, into)
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

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Options describe a plane.
type Options struct {
	// Builder provides the programs.
	Builder Builder
	// Dir is the plane's folder, which must be empty or not exist. It defaults to a new temporary folder.
	Dir string
	// Controllers adds kube-controller-manager.
	Controllers bool
	// FakeNodes is how many nodes there are, whose pods become ready although nothing runs. With one or more, kube-scheduler runs too. It
	// binds pods only if there are controllers, because one of them removes the taint of a new node.
	FakeNodes int
	// Audit makes the API server write its audit log, with a line for every request that changes something; see Plane.AuditLog.
	Audit bool
	// Detached lets the processes outlive the caller.
	Detached bool
}

// Start builds what is missing, starts a plane and returns when it is ready. If it fails, it leaves nothing behind.
func Start(ctx context.Context, options Options) (*Plane, error) {
	names := []string{etcd, apiServer}
	if options.Controllers {
		names = append(names, controllerManager)
	}
	if options.FakeNodes > 0 {
		names = append(names, fakeNode, scheduler)
	}
	binaries, err := options.Builder.Build(ctx, names...)
	if err != nil {
		return nil, err
	}
	const attempts = 3
	for attempt := 1; ; attempt++ {
		plane, err := start(ctx, options, binaries)
		if err == nil || !errors.Is(err, errPortTaken) || attempt == attempts {
			return plane, err
		}
	}
}

// errPortTaken is the only failure that makes Start try again.
var errPortTaken = errors.New("a port was taken in the meantime")

// start makes one attempt to start a plane.
func start(ctx context.Context, options Options, binaries map[string]string) (*Plane, error) {
	dir, err := makeDir(options.Dir)
	if err != nil {
		return nil, fmt.Errorf("create folder: %w", err)
	}
	layout, err := newLayout(dir)
	if err != nil {
		return nil, err
	}
	plane := &Plane{Kubeconfig: layout.kubeconfig(), Server: layout.server(), Dir: dir}
	if options.Audit {
		plane.AuditLog = layout.file(auditLog)
	}
	if err := plane.run(ctx, options, layout, binaries); err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	return plane, nil
}

// run starts the programs one after the other. Each must be ready before the next one starts.
func (p *Plane) run(ctx context.Context, options Options, layout layout, binaries map[string]string) error {
	// The state is saved first, so that Stop can clean up after an aborted start.
	if err := p.save(); err != nil {
		return err
	}
	keys, err := prepare(layout)
	if err != nil {
		return err
	}
	probe, err := newProbe(layout.server(), keys)
	if err != nil {
		return err
	}
	p.probe = probe
	for _, next := range []struct {
		wanted bool
		name   string
		args   []string
		ready  string
	}{
		{true, etcd, layout.etcdArgs(), ""},
		{true, apiServer, layout.apiServerArgs(options), "/readyz"},
		{options.FakeNodes > 0, fakeNode, layout.fakeNodeArgs(options.FakeNodes), "/api/v1/nodes/" + fakeNode},
		{options.FakeNodes > 0, scheduler, clientArgs(layout.schedulerKubeconfig()), ""},
		{options.Controllers, controllerManager, layout.controllerManagerArgs(), "/api/v1/namespaces/default/serviceaccounts/default"},
	} {
		if !next.wanted {
			continue
		}
		child, err := spawn(program{next.name, binaries[next.name], next.args, next.ready}, layout.file(next.name+".log"), options.Detached)
		if err != nil {
			return err
		}
		p.processes = append(p.processes, child)
		if err := errors.Join(p.save(), p.await(ctx, next.ready)); err != nil {
			return err
		}
	}
	return nil
}

// Kill ends a program as a crash does. The plane goes on without it until Restart.
func (p *Plane) Kill(name string) error {
	i, err := p.find(name)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.processes[i].killed = true
	p.mu.Unlock()
	return p.processes[i].stop(p.Dir)
}

// Restart starts a program again that was killed, and returns when it is ready.
func (p *Plane) Restart(ctx context.Context, name string) error {
	i, err := p.find(name)
	if err != nil {
		return err
	}
	child, err := spawn(p.processes[i].program, p.processes[i].log, false)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.processes[i] = child
	p.mu.Unlock()
	return errors.Join(p.save(), p.await(ctx, child.ready))
}

// find returns the index of a program that this launcher started.
func (p *Plane) find(name string) (int, error) {
	for i, process := range p.processes {
		if process.Name == name && process.exited != nil {
			return i, nil
		}
	}
	return 0, fmt.Errorf("this launcher did not start %s", name)
}

// ended returns the error of a process that has ended although nobody killed it; nil if there is none.
func (p *Plane) ended() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, process := range p.processes {
		if process.killed || process.alive(p.Dir) {
			continue
		}
		tail := process.tail()
		if strings.Contains(tail, "address already in use") {
			return fmt.Errorf("start %s: %w", process.Name, errPortTaken)
		}
		return fmt.Errorf("%s ended: %s", process.Name, tail)
	}
	return nil
}

// makeDir creates the folder or accepts an empty one, because Stop removes it with everything in it.
func makeDir(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "helmdrift-controlplane-")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if len(entries) > 0 {
		return "", fmt.Errorf("%s is not empty", dir)
	}
	return dir, os.MkdirAll(dir, 0o700)
}

// prepare writes all files that the programs read.
func prepare(layout layout) (credentials, error) {
	keys, err := newCredentials()
	if err != nil {
		return credentials{}, err
	}
	return keys, errors.Join(
		keys.write(layout.dir),
		writeAuditPolicy(layout.file(auditPolicy)),
		writeKubeconfig(layout.kubeconfig(), layout.server(), keys.ca.cert, keys.admin),
		writeKubeconfig(layout.controllerKubeconfig(), layout.server(), keys.ca.cert, keys.controller),
		writeKubeconfig(layout.schedulerKubeconfig(), layout.server(), keys.ca.cert, keys.scheduler),
	)
}

// startTimeout is how long a server may take until it is ready. One that ends is noticed at once, so only the speed of the machine counts.
const startTimeout = 10 * time.Minute

// await asks for path until the server answers 200. Without a path it does not wait. If a process ends, the error has the end of its log.
func (p *Plane) await(ctx context.Context, path string) error {
	if path == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		last := p.probe.get(ctx, path)
		if last == nil {
			return nil
		}
		if err := p.ended(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w (%w)", path, ctx.Err(), last)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Wait returns when ctx ends, or with an error when a process has ended that nobody killed.
func (p *Plane) Wait(ctx context.Context) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := p.ended(); err != nil {
			return err
		}
	}
}

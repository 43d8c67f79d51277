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
	// Dir is the plane's folder, which must be empty or not exist. It defaults to a
	// new temporary folder.
	Dir string
	// Controllers adds kube-controller-manager.
	Controllers bool
	// FakeNodes is how many nodes there are, whose pods become ready although nothing runs. With one or more, kube-scheduler runs too.
	FakeNodes int
	// Detached lets the processes outlive the caller.
	Detached bool
}

// Start builds what is missing, starts a plane and returns when it is ready. If it
// fails, it leaves nothing behind.
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

// errPortTaken is the only failure after which Start tries again.
var errPortTaken = errors.New("a port was taken in the meantime")

// start makes one attempt to start a plane.
func start(ctx context.Context, options Options, binaries map[string]string) (*Plane, error) {
	dir, err := makeDir(options.Dir)
	if err != nil {
		return nil, err
	}
	layout, err := newLayout(dir)
	if err != nil {
		return nil, err
	}
	plane := &Plane{Kubeconfig: layout.kubeconfig(), Server: layout.server(), Dir: dir}
	if err := plane.run(ctx, options, layout, binaries); err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	return plane, nil
}

// run starts the programs one after the other. Each must be ready before the
// next one starts.
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
	// ready is a path that answers 200 as soon as the program works.
	for _, program := range []struct {
		wanted bool
		name   string
		args   []string
		ready  string
	}{
		{true, etcd, layout.etcdArgs(), ""},
		{true, apiServer, layout.apiServerArgs(options.Controllers), "/readyz"},
		{options.FakeNodes > 0, fakeNode, layout.fakeNodeArgs(options.FakeNodes), "/api/v1/nodes/" + fakeNode},
		{options.FakeNodes > 0, scheduler, layout.schedulerArgs(), ""},
		{options.Controllers, controllerManager, layout.controllerManagerArgs(), "/api/v1/namespaces/default/serviceaccounts/default"},
	} {
		if !program.wanted {
			continue
		}
		child, err := spawn(program.name, binaries[program.name], layout.file(program.name+".log"), program.args, options.Detached)
		if err != nil {
			return err
		}
		p.processes = append(p.processes, child)
		if err := errors.Join(p.save(), p.await(ctx, probe, program.ready)); err != nil {
			return err
		}
	}
	return nil
}

// makeDir creates the folder or accepts an empty one, because Stop removes it with
// everything in it.
func makeDir(dir string) (string, error) {
	if dir == "" {
		made, err := os.MkdirTemp("", "helmdrift-controlplane-")
		if err != nil {
			return "", fmt.Errorf("create folder: %w", err)
		}
		return made, nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("create folder: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("create folder: %w", err)
	}
	if len(entries) > 0 {
		return "", fmt.Errorf("create folder: %s is not empty", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("create folder: %w", err)
	}
	return dir, nil
}

// prepare writes all files that the programs read.
func prepare(layout layout) (credentials, error) {
	keys, err := newCredentials()
	if err != nil {
		return credentials{}, err
	}
	return keys, errors.Join(
		keys.write(layout.dir),
		writeKubeconfig(layout.kubeconfig(), layout.server(), keys.ca.cert, keys.admin),
		writeKubeconfig(layout.controllerKubeconfig(), layout.server(), keys.ca.cert, keys.controller),
		writeKubeconfig(layout.schedulerKubeconfig(), layout.server(), keys.ca.cert, keys.scheduler),
	)
}

// await asks for path until the server answers 200. Without a path it does not
// wait. If a process ends, the error has the end of its log.
func (p *Plane) await(ctx context.Context, probe probe, path string) error {
	if path == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		last := probe.get(ctx, path)
		if last == nil {
			return nil
		}
		for _, process := range p.processes {
			if process.alive(p.Dir) {
				continue
			}
			tail := process.tail()
			if strings.Contains(tail, "address already in use") {
				return fmt.Errorf("start %s: %w", process.Name, errPortTaken)
			}
			return fmt.Errorf("%s ended: %s", process.Name, tail)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w (%w)", path, ctx.Err(), last)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Wait returns when ctx ends, or with an error when a process has ended.
func (p *Plane) Wait(ctx context.Context) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for _, process := range p.processes {
			if !process.alive(p.Dir) {
				return fmt.Errorf("%s ended: %s", process.Name, process.tail())
			}
		}
	}
}

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/helmdrift/helmdrift/test/controlplane"
)

// runStart starts a plane. A detached plane prints a line for the shell to evaluate. A plane in the foreground prints one line of JSON, and
// lives until in ends or a signal arrives.
func runStart(ctx context.Context, builder controlplane.Builder, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("start", flag.ContinueOnError)
	module := moduleFlag(flags)
	options := controlplane.Options{}
	foreground := flags.Bool("foreground", false, "stay until stdin ends (give it a pipe) or a signal arrives, then stop everything")
	flags.StringVar(&options.Dir, "dir", "",
		"the plane's folder, removed by stop (default: one in the user's cache; in the foreground a temporary one)")
	flags.BoolVar(&options.Controllers, "controllers", false, "run kube-controller-manager")
	flags.IntVar(&options.FakeNodes, "fake-nodes", 0, "run kube-scheduler and this many nodes whose pods become ready although nothing runs")
	flags.BoolVar(&options.Audit, "audit", false, "write an audit log of the requests that change something")
	if err := parse(flags, args); err != nil {
		return err
	}
	var err error
	if builder.Module, err = controlplane.FindModule(*module); err != nil {
		return err
	}
	options.Builder = builder
	if *foreground {
		return stay(ctx, options, in, out)
	}
	return detach(ctx, options, out)
}

// stay runs a plane in the foreground.
func stay(ctx context.Context, options controlplane.Options, in io.Reader, out io.Writer) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	commands := make(chan string)
	go func() {
		// The consumer holds the other end of the pipe, which closes when the consumer ends or dies.
		defer cancel()
		for lines := bufio.NewScanner(in); lines.Scan(); {
			select {
			case commands <- lines.Text():
			case <-ctx.Done():
			}
		}
	}()
	plane, err := controlplane.Start(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	if err := json.NewEncoder(out).Encode(plane); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	go obey(ctx, plane, commands, out)
	return plane.Wait(ctx)
}

// obey runs the commands of the consumer.
func obey(ctx context.Context, plane *controlplane.Plane, commands <-chan string, out io.Writer) {
	for {
		select {
		case <-ctx.Done():
			return
		case line := <-commands:
			var answer struct {
				Error string `json:"error,omitempty"`
			}
			if err := command(ctx, plane, line); err != nil {
				answer.Error = err.Error()
			}
			_ = json.NewEncoder(out).Encode(answer) // a consumer that is gone does not read it
		}
	}
}

func command(ctx context.Context, plane *controlplane.Plane, line string) error {
	switch verb, name, _ := strings.Cut(line, " "); verb {
	case "kill":
		return plane.Kill(name)
	case "restart":
		return plane.Restart(ctx, name)
	}
	return fmt.Errorf("no such command: %q", line)
}

// detach starts the plane of a folder, or finds that it runs already: calling make cluster twice is not an error.
func detach(ctx context.Context, options controlplane.Options, out io.Writer) error {
	dir, err := planeDir(options.Dir)
	if err != nil {
		return err
	}
	options.Dir, options.Detached = dir, true
	plane, err := controlplane.Load(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case plane.Running():
		return export(out, plane)
	default:
		// These are the remains of a plane that died, for example with the machine.
		if err := plane.Stop(); err != nil {
			return err
		}
	}
	if plane, err = controlplane.Start(ctx, options); err != nil {
		return err
	}
	return export(out, plane)
}

// export prints the line that makes a shell use the plane.
func export(out io.Writer, plane *controlplane.Plane) error {
	_, err := fmt.Fprintf(out, "export KUBECONFIG=%s\n", plane.Kubeconfig)
	return err
}

// planeDir returns the folder of the detached plane, which start and stop share.
func planeDir(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	cache, err := controlplane.UserCache()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "plane"), nil
}

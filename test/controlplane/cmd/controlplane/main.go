// Controlplane starts and stops a real Kubernetes control plane on loopback, for tests and the demo. It compiles the servers on first use.
//
//	controlplane build
//	controlplane start [--controllers] [--fake-nodes N] [--dir DIR] [--foreground]
//	controlplane stop [--dir DIR]
//	controlplane gendefaults [flags of cmd/gendefaults]
//
// HELMDRIFT_CONTROLPLANE_ASSETS names a folder with compiled etcd, kube-apiserver and kube-controller-manager, which are then not built.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/helmdrift/helmdrift/test/controlplane"
)

const usage = "usage: controlplane build | start | stop | gendefaults (each with --help)"

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, in io.Reader, out, log io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	builder := controlplane.Builder{Assets: os.Getenv("HELMDRIFT_CONTROLPLANE_ASSETS"), Log: log}
	switch command, args := args[0], args[1:]; command {
	case "build":
		return runBuild(ctx, builder, args, out)
	case "start":
		return runStart(ctx, builder, args, in, out)
	case "stop":
		return runStop(args)
	case "gendefaults":
		return runGenDefaults(ctx, builder, args, out)
	default:
		return errors.New(usage)
	}
}

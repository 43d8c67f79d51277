package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/helmdrift/helmdrift/test/controlplane"
)

// runBuild compiles every program that is not cached, and prints the path of each.
func runBuild(ctx context.Context, builder controlplane.Builder, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	module := moduleFlag(flags)
	if err := parse(flags, args); err != nil {
		return err
	}
	var err error
	if builder.Module, err = controlplane.FindModule(*module); err != nil {
		return err
	}
	paths, err := builder.Build(ctx, controlplane.Programs()...)
	if err != nil {
		return err
	}
	for _, name := range controlplane.Programs() {
		fmt.Fprintln(out, paths[name])
	}
	return nil
}

// runGenDefaults runs the cached gendefaults with all arguments.
func runGenDefaults(ctx context.Context, builder controlplane.Builder, args []string, out io.Writer) error {
	var err error
	if builder.Module, err = controlplane.FindModule("."); err != nil {
		return err
	}
	paths, err := builder.Build(ctx, "gendefaults")
	if err != nil {
		return err
	}
	program := exec.CommandContext(ctx, paths["gendefaults"], args...)
	program.Stdout, program.Stderr = out, os.Stderr
	return program.Run()
}

// moduleFlag defines the flag for the folder of the sources.
func moduleFlag(flags *flag.FlagSet) *string {
	return flags.String("module", ".", "a folder in the checkout; the sources are found from there upwards")
}

// parse parses flags and refuses arguments.
func parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%s takes no arguments, got %q", flags.Name(), flags.Arg(0))
	}
	return nil
}

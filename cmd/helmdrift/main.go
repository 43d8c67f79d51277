package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	_ "time/tzdata" // sync windows and CronJobs name time zones, and the image has no operating system with them

	"github.com/spf13/cobra"

	"github.com/helmdrift/helmdrift/internal/cli"
	_ "github.com/helmdrift/helmdrift/internal/garbage/early" // before the libraries are initialized
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/tempdir"
)

// lastWork is how long a command may go on after an interrupt: to finish the write that has begun, and to print what it has. Code that
// reads a file or compares checks the context only now and then, so after this time the process ends in any case.
const lastWork = 1800 * time.Millisecond

// main starts the program, or serves as a child process if the program was started as one.
func main() {
	forbidCoreDumps() // before SetTraceback, because "crash" writes a core file, which could hold secrets
	if os.Args[0] == cli.ChildName {
		os.Exit(serveParent())
	}
	if other := allGuests().as[strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")]; other != nil {
		os.Exit(other(os.Args))
	}
	debug.SetTraceback("crash") // without it, a fatal error of the runtime ends the process with 2, which means drift
	ctx, stop := signal.NotifyContext(context.Background(), interrupts()...)
	var onScreen atomic.Bool
	context.AfterFunc(ctx, func() {
		stop() // a second signal ends the process at once
		secret.Interrupt()
		time.Sleep(lastWork)
		if !onScreen.Load() {
			tempdir.RemoveAll()
			fmt.Fprintln(os.Stderr, "Error: interrupted")
			os.Exit(cli.ExitFailure)
		}
	})
	// A closed pipe is then an error of the write, and does not end a fix half-way.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	version = installedVersion(version)
	code := run(ctx, os.Args[1:], cli.Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv, Program: cli.Invocation(os.Args[0], os.Getenv),
		Shown: func() { onScreen.Store(true) },
	})
	stop()
	os.Exit(code)
}

// interrupts returns the signals that end a command. They include the hangup of a closed terminal, unless nohup ignores it.
func interrupts() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// run is the program without its process: it parses args, runs one command and returns the exit code. It prints every error except a
// cli.ExitStatus, which stands for a printed report. A panic is an internal error and never looks like drift.
func run(ctx context.Context, args []string, s cli.Streams) (code int) {
	cli.Quiet()
	s.Known = &secret.Known{}
	root := newRoot(s)
	cli.RefuseUnknown(root)
	root.SetArgs(args)
	// Recover from a panic: the runtime would end the process with 2, which means drift.
	defer func() {
		if cause := recover(); cause != nil {
			code = cli.ExitFailure
			s.Print("Error: internal error: ", s.Known.Scrub(fmt.Sprint(cause)))
			if on, _ := root.PersistentFlags().GetBool("debug"); on {
				fmt.Fprintf(s.Err, "%s\n", debug.Stack())
				return
			}
			fmt.Fprintln(s.Err, "Hint: please report it, with the output of --debug")
		}
	}()
	cmd, err := root, cli.RefuseOneDash(root, args)
	if err == nil {
		cmd, err = root.ExecuteContextC(ctx)
	}
	var status cli.ExitStatus
	switch {
	case err == nil:
		return cli.ExitClean
	case errors.As(err, &status):
		return int(status)
	case isClosed(s.Out, err) && !writes(cmd): // the reader of stdout, such as head, has seen enough
		return cli.ExitFailure
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		err = errors.New("interrupted") // the error of the interrupted request is of no interest
	}
	s.Explain(err)
	return cli.ExitFailure
}

// writes reports whether a command changes a cluster or files. Its user must know that it did not get to its end.
func writes(cmd *cobra.Command) bool {
	return cmd.Name() == "fix" || cmd.Flags().Changed("fix") || cmd.Flags().Changed("write")
}

// isClosed reports whether an error means that nobody reads a stream any more.
func isClosed(out io.Writer, err error) bool {
	file, isFile := out.(*os.File)
	var failed *fs.PathError
	return isFile && errors.As(err, &failed) && failed.Path == file.Name() && errors.Is(failed, syscall.EPIPE)
}

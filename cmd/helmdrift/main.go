package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/helmdrift/helmdrift/internal/secret"
)

// lastWork is how long a command may go on after an interrupt: to finish the write that has begun, and to print what it has. What reads
// a file or compares asks the context only now and then, so the process ends whatever it does.
const lastWork = 1800 * time.Millisecond

// main starts the program, or serves as a child process if the program was started as one.
func main() {
	forbidCoreDumps() // before SetTraceback: the core file that "crash" asks for could hold secrets
	if os.Args[0] == childName {
		os.Exit(serveParent())
	}
	debug.SetTraceback("crash") // without it, a fatal error of the runtime ends the process with 2, which means drift
	ctx, stop := signal.NotifyContext(context.Background(), interrupts()...)
	var onScreen atomic.Bool
	context.AfterFunc(ctx, func() {
		stop() // a second signal ends the process at once
		time.Sleep(lastWork)
		if !onScreen.Load() {
			fmt.Fprintln(os.Stderr, "Error: interrupted")
			os.Exit(exitFailure)
		}
	})
	// A reader that is gone is an error of the write, and ends no fix half-way.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	version = installedVersion(version)
	code := run(ctx, os.Args[1:], streams{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv, program: invocation(os.Args[0], os.Getenv),
		shown: func() { onScreen.Store(true) },
	})
	stop()
	os.Exit(code)
}

// interrupts returns the signals that end a command. A terminal that is closed is one of them, unless nohup asks to ignore that.
func interrupts() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// run is the program without its process: it parses args, runs one command and returns the exit code. An error that is an exitStatus was
// printed already; every other error is printed here. A panic is an internal error and never looks like drift.
func run(ctx context.Context, args []string, s streams) (code int) {
	quiet()
	s.known = &secret.Known{}
	root := newRoot(s)
	refuseUnknown(root)
	root.SetArgs(args)
	// recover must run before the exit code is returned: the runtime would end the process with 2, which means drift.
	defer func() {
		if cause := recover(); cause != nil {
			code = exitFailure
			s.print("Error: internal error: ", s.known.Scrub(fmt.Sprint(cause)))
			if on, _ := root.PersistentFlags().GetBool("debug"); on {
				fmt.Fprintf(s.err, "%s\n", debug.Stack())
				return
			}
			fmt.Fprintln(s.err, "Hint: please report it, with the output of --debug")
		}
	}()
	err := root.ExecuteContext(ctx)
	var status exitStatus
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &status):
		return int(status)
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		err = errors.New("interrupted") // the request that it cut off is of no interest
	}
	s.explain(err)
	return exitFailure
}

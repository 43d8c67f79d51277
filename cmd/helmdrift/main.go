// Command helmdrift shows what drifted in a Helm release, who did it, and what the next helm upgrade will do about it.
//
// This package is flags, prompts and exit codes. main calls run, run builds one cobra command per file, and each command has one function
// that goes straight down: options from flags, one comparison by pkg/drift, a report by internal/output, and for fix a plan by pkg/repair:
//
//	main → run → runDiff → begin → session.compare → drift.Compare → output.Write → failOn.status
//	             runFix  → begin → session.compare → drift.Compare → fixRun.run: plan, show, ask, write, compare again
//
// Work on foreign text is done in child processes of the same program (jobs.go). Nothing else in the tree knows flags or the environment,
// and nothing else ends the process.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"k8s.io/klog/v2"

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
)

// streams is what a command reads from and writes to, so that tests can replace it.
type streams struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string
	// known is what this run knows to be secret: errors and Helm's own log go through it.
	known *secret.Known
}

func main() {
	// A runtime fatal error would exit 2, which means drift; the core file that "crash" asks for could hold secrets.
	forbidCoreDumps()
	if os.Args[0] == childName {
		os.Exit(serveParent())
	}
	debug.SetTraceback("crash")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv})
	stop()
	os.Exit(code)
}

// run is the program: it parses args, runs one command and returns the exit code.
func run(ctx context.Context, args []string, s streams) (code int) {
	quiet()
	s.known = &secret.Known{}
	root := newRoot(s)
	root.SetArgs(args)
	defer func() {
		if cause := recover(); cause != nil {
			code = exitFailure
			s.print("Error: internal error: ", s.known.Scrub(fmt.Sprint(cause)))
			if on, _ := root.PersistentFlags().GetBool("debug"); on {
				fmt.Fprintf(s.err, "%s\n", debug.Stack())
				return
			}
			fmt.Fprintln(s.err, "Hint: please report it, with what --debug prints")
		}
	}()
	err := root.ExecuteContext(ctx)
	var status exitStatus
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &status):
		return int(status)
	}
	s.explain(err)
	return exitFailure
}

// quiet silences the libraries' own logs, which hold values and would mix with ours; --debug brings Helm's back, without secrets.
func quiet() {
	log.SetOutput(io.Discard)
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
}

// explain prints an error without secrets, and below it what to try where something is known to help.
func (s streams) explain(err error) {
	s.print("Error: ", s.known.Scrub(err.Error()))
	if hint := drift.Hint(err); hint != "" {
		s.print("Hint: ", hint)
	}
}

// print prints a message to stderr behind words of our own, escaped as the text of a report is.
func (s streams) print(words, message string) {
	fmt.Fprintln(s.err, words+output.EscapeLines(message, !s.unicode()))
}

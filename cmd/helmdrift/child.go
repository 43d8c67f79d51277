package main

import (
	"io"
	"log"
	"maps"
	"os"
	"runtime/debug"
	"strings"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/jobs"
)

// This file is the main function of a child process, which works on foreign text. internal/jobs has the jobs.

// serveParent is the main function of a child. It does one job and returns the exit code. The original standard output is the pipe to the
// parent. serveParent replaces os.Stdout, so that output of a library does not get between the answers.
func serveParent() int {
	debug.SetTraceback("single")
	cli.Quiet()
	log.SetOutput(os.Stderr) // the parent prints it if --debug is set, and discards it otherwise
	out := os.Stdout
	os.Stdout = os.Stderr
	in := io.Reader(os.Stdin)
	if info, err := os.Stdin.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		in = strings.NewReader("") // somebody started this by hand: there is no parent and no job
	}
	all := jobs.All()
	maps.Copy(all, allGuests().jobs)
	return confine.Child{
		In: in, Out: out, Err: os.Stderr, Exit: os.Exit, Quiet: func() { log.SetOutput(io.Discard) },
		Jobs: all,
	}.Serve()
}

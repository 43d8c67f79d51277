package main

import (
	"io"
	"log"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/jobs"
)

// This file says what work on foreign text may take, and what this program is if it was started to do such work. The jobs are in
// internal/jobs, and how a child is started, watched and ended is in internal/confine.

// limits are the flags about the time and the memory that work on foreign text may take.
type limits struct {
	time   time.Duration
	memory memorySize
	// env is the environment of a child.
	env []string
}

// newLimits returns the default limits.
func newLimits(s streams) limits {
	return limits{time: time.Minute, memory: newMemorySize("1Gi"), env: childEnv(s.env)}
}

func (l *limits) addFlags(fs *pflag.FlagSet) {
	fs.DurationVar(&l.time, "render-timeout", l.time,
		"time limit for reading a manifest, for fetching the chart and for rendering it; 0 for none")
	fs.Var(&l.memory, "render-memory", "memory limit for reading a manifest and for rendering the chart, such as 512Mi; 0 for none")
}

// limitFlags returns the names of the flags of addFlags.
func limitFlags() []string { return namesOf((&limits{}).addFlags) }

// childName is the argv[0] of a child process, by which main knows that it is one; see internal/confine. No file has this name.
const childName = "helmdrift-confined"

// childEnv returns the environment of a child: where temporary files go, the time zone, and how to reach the network for the schemas that
// charts refer to. It holds no credentials of the cluster.
func childEnv(env func(string) string) []string {
	var out []string
	for _, name := range []string{
		"TZ", "ZONEINFO", "TMPDIR", "TMP", "TEMP", "GODEBUG", "GOCOVERDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	} {
		if value := env(name); value != "" {
			out = append(out, name+"="+value)
		}
	}
	return out
}

// jobs returns the limits for the jobs of children, whose log is printed if debug is set.
func (l limits) jobs(debug bool) jobs.Limits {
	out := jobs.Limits{Time: l.time, Memory: l.memory.Quantity, Program: confine.Program{Name: childName, Env: l.env}}
	if debug {
		out.Program.Log = log.Writer()
	}
	return out
}

// serveParent is the main function of a child. It does one job and returns the exit code. The original standard output is the pipe to the
// parent, so os.Stdout is replaced: what a library prints must not get between the answers.
func serveParent() int {
	debug.SetTraceback("single")
	quiet()
	log.SetOutput(os.Stderr) // the parent prints it if --debug is set, and discards it otherwise
	out := os.Stdout
	os.Stdout = os.Stderr
	in := io.Reader(os.Stdin)
	if info, err := os.Stdin.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		in = eof{} // somebody started this by hand: there is no parent and no job
	}
	return confine.Child{
		In: in, Out: out, Err: os.Stderr, Exit: os.Exit, Quiet: func() { log.SetOutput(io.Discard) },
		Jobs: jobs.All(),
	}.Serve()
}

// eof is an empty input.
type eof struct{}

// Read returns the end.
func (eof) Read([]byte) (int, error) { return 0, io.EOF }

package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/confine"
)

// This file says what work on foreign text may take, and starts the child process that does it. What the jobs are is in jobs.go, and how a
// child is started, watched and ended is in internal/confine.

// limits are the time and the memory that work on foreign text may take. A template can loop forever or fill the memory, and so can the
// text of a manifest or of an index. Go cannot stop such work within a process, so it is a job of a child process (jobs.go), which can be
// ended. A limit of zero means no limit.
type limits struct {
	time    time.Duration
	memory  memorySize
	program confine.Program
}

// newLimits returns the default limits.
func newLimits(s streams) limits {
	return limits{time: time.Minute, memory: newMemorySize("1Gi"), program: confine.Program{Name: childName, Env: childEnv(s.env)}}
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

// answerShare is the fraction of the memory limit that one answer of the network may take. Several copies of it are held at once.
const answerShare = 4

// maxAnswer returns the largest size of one answer of the network in bytes; 0 means that the package that reads it decides.
func (l limits) maxAnswer() int64 { return l.memory.Value() / answerShare }

// runJob runs a job in a child process within the limits. Doing names the work in messages, such as "rendering the chart". The child asks
// its questions through calls.
func runJob[In, Out any](ctx context.Context, l limits, doing, job string, in In, calls map[string]confine.Call) (Out, error) {
	// A fault is the error of the job itself, which says what it was doing. Errors of the way to and from the child do not.
	out, err := confine.Run[In, Out](ctx, l.program, confine.Limits{Time: l.time, Memory: l.memory.Value()}, job, in, calls)
	var fault *confine.Fault
	switch {
	case errors.Is(err, confine.ErrTime):
		err = l.timeExceeded(doing)
	case errors.Is(err, confine.ErrMemory):
		err = l.memoryExceeded(doing)
	case err != nil && ctx.Err() == nil && !errors.As(err, &fault):
		err = fmt.Errorf("%s: %w", doing, err)
	}
	return out, err
}

// withLog returns the limits with the log of the child printed if debug is set.
func (l limits) withLog(debug bool) limits {
	if debug {
		l.program.Log = log.Writer()
	}
	return l
}

func (l limits) timeExceeded(doing string) error {
	return hinted{error: fmt.Errorf("%s takes longer than %s", doing, l.time), hint: "--render-timeout allows more"}
}

func (l limits) memoryExceeded(doing string) error {
	return hinted{error: fmt.Errorf("%s takes more memory than %s", doing, l.memory.String()), hint: "--render-memory allows more"}
}

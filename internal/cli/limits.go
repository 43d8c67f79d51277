package cli

import (
	"log"
	"time"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/jobs"
)

// This file has the limits for work on foreign text, which a child process does. internal/jobs has the jobs, and internal/confine starts,
// watches and ends children.

// Limits are the flags that limit the time and the memory of work on foreign text.
type Limits struct {
	time   time.Duration
	memory memorySize
	// env is the environment of a child.
	env []string
}

// newLimits returns the default limits.
func newLimits(env func(string) string) Limits {
	return Limits{time: time.Minute, memory: newMemorySize("1Gi"), env: childEnv(env)}
}

// AddFlags adds the flags.
func (l *Limits) AddFlags(fs *pflag.FlagSet) {
	fs.Var((*timeLimit)(&l.time), "render-timeout",
		"time limit for reading a manifest, for fetching the chart and for rendering it; 0 for none")
	fs.Var(&l.memory, "render-memory", "memory limit for reading a manifest and for rendering the chart, such as 512Mi; 0 for none")
}

// LimitFlags returns the names of the flags of AddFlags.
func LimitFlags() []string { return NamesOf((&Limits{}).AddFlags) }

// ChildName is the argv[0] of a child process. Main recognises a child by it; see internal/confine. No file has this name.
const ChildName = "helmdrift-confined"

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

// jobs returns the limits for the jobs of children. If debug is set, their log is printed.
func (l Limits) jobs(debug bool) jobs.Limits {
	out := jobs.Limits{Time: l.time, Memory: l.memory.Quantity, Program: confine.Program{Name: ChildName, Env: l.env}}
	if debug {
		out.Program.Log = log.Writer()
	}
	return out
}

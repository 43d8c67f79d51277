package main

import (
	"io"
	"log"
	"regexp"

	"k8s.io/klog/v2"

	"github.com/helmdrift/helmdrift/internal/secret"
)

// quiet discards what the libraries log: their lines can hold values of the release, and would mix with the messages of this program.
// --debug brings Helm's log back through newHelmLog.
func quiet() {
	log.SetOutput(io.Discard)
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
}

// helmLog is the destination of what Helm's libraries log. Helm 3 writes to log, and Helm 4 writes to log and to slog, which ends in log
// too.
type helmLog struct{ to io.Writer }

// newHelmLog returns a writer that removes secrets and values from Helm's log.
func newHelmLog(known *secret.Known, to io.Writer) io.Writer { return helmLog{known.Writer(to)} }

// loggedValue matches the value that Helm logs if a chart has a table where the values have none, or the other way around
// (helm v3.22.0 pkg/chartutil/coalesce.go, v4.3.1 pkg/chart/common/util/coalesce.go coalesceTablesFullKey).
var loggedValue = regexp.MustCompile(`(?s)(cannot overwrite table with non table for .*?|Ignoring non-table value) \(.*\)`)

// Write writes one line of the log, without values of the release and without secrets.
func (l helmLog) Write(p []byte) (int, error) {
	if _, err := l.to.Write(loggedValue.ReplaceAll(p, []byte("$1 (…)"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

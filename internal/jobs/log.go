package jobs

import (
	"io"
	"regexp"

	"github.com/helmdrift/helmdrift/internal/secret"
)

// logWriter is the destination of what Helm's libraries log. Helm 3 writes to log, and Helm 4 writes to log and to slog, which ends in log
// too.
type logWriter struct{ to io.Writer }

// LogWriter returns a writer that removes secrets and values from Helm's log.
func LogWriter(known *secret.Known, to io.Writer) io.Writer { return logWriter{known.Writer(to)} }

// loggedValue matches the value that Helm logs if a chart has a table where the values have none, or the other way around
// (helm v3.22.0 pkg/chartutil/coalesce.go, v4.3.1 pkg/chart/common/util/coalesce.go coalesceTablesFullKey).
var loggedValue = regexp.MustCompile(`(?s)(cannot overwrite table with non table for .*?|Ignoring non-table value) \(.*\)`)

// Write writes one line of the log, without values of the release and without secrets.
func (l logWriter) Write(p []byte) (int, error) {
	if _, err := l.to.Write(loggedValue.ReplaceAll(p, []byte("$1 (…)"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

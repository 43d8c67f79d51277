package main

import (
	"io"
	"regexp"

	"github.com/helmdrift/helmdrift/internal/secret"
)

// helmLog is where --debug sends what Helm's libraries log. Helm 3 writes to log, Helm 4 to log and to slog, which ends there too.
type helmLog struct{ to io.Writer }

func newHelmLog(known *secret.Known, to io.Writer) io.Writer { return helmLog{known.Writer(to)} }

// loggedValue matches the value that Helm logs where one stands in the place of a table, or a table in the place of one
// (helm v3.22.0 pkg/chartutil/coalesce.go, v4.3.1 pkg/chart/common/util/coalesce.go coalesceTablesFullKey).
var loggedValue = regexp.MustCompile(`(?s)(cannot overwrite table with non table for .*?|Ignoring non-table value) \(.*\)`)

// Write passes on a line of the log, without values of the release and without secrets.
func (l helmLog) Write(p []byte) (int, error) {
	if _, err := l.to.Write(loggedValue.ReplaceAll(p, []byte("$1 (…)"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

package confine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
)

// stderrLog reads what a child writes to stderr: it passes the lines to the log, and keeps the reason of a crash.
type stderrLog struct {
	log  io.Writer
	line []byte
	// fatal is the last message of the Go runtime.
	fatal string
}

// longestLine bounds how much of a line is kept.
const longestLine = 4 << 10

// Write splits the text into lines. It never fails.
func (w *stderrLog) Write(text []byte) (int, error) {
	for line := range bytes.Lines(text) {
		w.line = append(w.line, line[:min(len(line), longestLine-min(longestLine, len(w.line)))]...)
		if bytes.HasSuffix(line, []byte("\n")) {
			w.endLine()
		}
	}
	return len(text), nil
}

// endLine passes the current line to the log. The texts come from go1.26 runtime/panic.go, throw and printpanics.
func (w *stderrLog) endLine() {
	line := strings.TrimRight(string(w.line), "\n")
	w.line = w.line[:0]
	for _, opening := range []string{"fatal error: ", "panic: "} {
		if w.fatal == "" && strings.HasPrefix(line, opening) {
			w.fatal = line
		}
	}
	if w.log != nil {
		fmt.Fprintln(w.log, line)
	}
}

// explain returns the reason why a child ended without an answer. It shows only the runtime's messages from the
// child's stderr, because the message of a panic may quote a value.
func (w *stderrLog) explain(ended error, bounded bool) error {
	w.endLine()
	var status *exec.ExitError
	switch {
	case !errors.As(ended, &status):
		return errors.New("its process ended without an answer")
	case status.ExitCode() == exitMemory, status.ExitCode() == exitCrash && bounded && !w.isOwnFault():
		return ErrMemory
	case status.ExitCode() == exitTime:
		return ErrTime
	case status.ExitCode() == -1:
		return fmt.Errorf("the system ended its process (%w): the machine may be short of memory", status)
	case strings.HasPrefix(w.fatal, "fatal error: "):
		return fmt.Errorf("its process crashed: %s", w.fatal)
	}
	return fmt.Errorf("its process crashed with exit code %d", status.ExitCode())
}

// exitCrash is the exit code of a crash of the Go runtime.
const exitCrash = 2

// isOwnFault reports whether code in pure Go can cause the crash without running out of memory. All other crashes happen because the
// runtime got no memory for the heap, a stack or a thread, and they have many messages: "out of memory", "pthread_create failed", "cannot
// map pages", and SIGSEGV where the garbage collector does not check its allocation.
func (w *stderrLog) isOwnFault() bool {
	own := []string{"panic: ", "fatal error: all goroutines are asleep", "fatal error: concurrent map", "fatal error: sync: "}
	return slices.ContainsFunc(own, func(opening string) bool { return strings.HasPrefix(w.fatal, opening) })
}

package confine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// lastWords reads what a child writes to stderr: for the log, and for the reason of its end.
type lastWords struct {
	log  io.Writer
	line []byte
	// fatal is what the Go runtime gave up for.
	fatal string
}

// longestLine bounds how much of a line is kept.
const longestLine = 4 << 10

// Write takes the text apart into lines. It never fails.
func (w *lastWords) Write(text []byte) (int, error) {
	for line := range bytes.Lines(text) {
		w.line = append(w.line, line[:min(len(line), longestLine-min(longestLine, len(w.line)))]...)
		if bytes.HasSuffix(line, []byte("\n")) {
			w.end()
		}
	}
	return len(text), nil
}

func (w *lastWords) end() {
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

// explain says why a child ended that gave no answer. Its own words are shown only where they are the runtime's: those of a panic
// may quote a value.
func (w *lastWords) explain(ended error, bounded bool) error {
	w.end()
	var status *exec.ExitError
	switch {
	case !errors.As(ended, &status):
		return errors.New("its process ended without an answer")
	case status.ExitCode() == exitMemory, status.ExitCode() == exitCrash && bounded && !w.ownFault():
		return ErrMemory
	case status.ExitCode() == exitTime:
		return ErrTime
	case status.ExitCode() == -1:
		return fmt.Errorf("the system ended its process (%w): the machine may be short of memory", status)
	case strings.HasPrefix(w.fatal, "fatal error: "):
		return fmt.Errorf("its process broke off: %s", w.fatal)
	}
	return fmt.Errorf("its process broke off with exit code %d", status.ExitCode())
}

// exitCrash is the exit code of the Go runtime.
const exitCrash = 2

// ownFault reports whether a crash is one that code in pure Go can bring about without running out of memory. All others happen where
// the runtime got no memory for the heap, a stack or a thread, and they have many words: "out of memory", "pthread_create failed",
// "cannot map pages", and where the garbage collector does not look at what it got, SIGSEGV.
func (w *lastWords) ownFault() bool {
	for _, opening := range []string{"panic: ", "fatal error: all goroutines are asleep", "fatal error: concurrent map", "fatal error: sync: "} {
		if strings.HasPrefix(w.fatal, opening) {
			return true
		}
	}
	return false
}

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
	for _, opening := range []string{"fatal error: ", "runtime: ", "panic: ", "SIGSEGV: ", "SIGBUS: "} {
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
func (w *lastWords) explain(ended error) error {
	w.end()
	var status *exec.ExitError
	switch {
	case !errors.As(ended, &status):
		return errors.New("its process ended without an answer")
	case status.ExitCode() == exitMemory, w.outOfMemory():
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

// outOfMemory recognises how the Go runtime words that it got no memory, for the heap, for a stack or for a thread (go1.26
// runtime/mem_linux.go, malloc.go, stack.go, os_linux.go). Its garbage collector does not check everything that it gets, so it
// may also read where nothing is; code in pure Go has no other way to that.
func (w *lastWords) outOfMemory() bool {
	for _, words := range []string{"out of memory", "cannot allocate memory", "cannot map pages", "stack exceeds", "stack overflow",
		"failed to create new OS thread", "failed to allocate", "errno=12", "can't allocate", "VirtualAlloc", "unexpected signal", "SIGSEGV", "SIGBUS"} {
		if strings.Contains(w.fatal, words) {
			return !strings.HasPrefix(w.fatal, "panic: ")
		}
	}
	return false
}

package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"time"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// command is a call of a program, with its limits.
type command struct {
	// name is what errors call the program, such as "the plugin secrets".
	name string
	path string
	args []string
	// env are variables that the program gets in addition to those of this process, as NAME=value.
	env   []string
	input []byte
	// time is how long it may run, and output how many bytes it may print; 0 means no limit. Of its standard error, messages bytes are kept.
	time             time.Duration
	output, messages int64
}

// outputDelay is how long to wait for the output of a program after it has ended or was killed: a child of its own may hold the pipe open.
const outputDelay = time.Second

// run runs the program and returns what it prints to its standard output, and the beginning of what it prints to its standard error, also
// if it fails. A program that exceeds a limit is killed at once, and so it is when ctx ends; then the error is the cause.
func (c command) run(ctx context.Context) (output []byte, messages *head, err error) {
	if c.time > 0 {
		late := hint.New(fmt.Errorf("%s takes longer than %s", c.name, c.time), "--render-timeout allows more")
		limited, cancel := context.WithTimeoutCause(ctx, c.time, late)
		defer cancel()
		ctx = limited
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	out, messages := &head{limit: c.output}, &head{limit: c.messages}
	out.full = func() {
		stop(hint.New(fmt.Errorf("%s prints more than %d MiB", c.name, c.output>>20), "--render-memory allows more"))
	}
	cmd := exec.CommandContext(ctx, c.path, c.args...)
	cmd.Env = append(cmd.Environ(), c.env...)
	if c.input != nil {
		cmd.Stdin = bytes.NewReader(c.input)
	}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, messages, outputDelay
	ownGroup(cmd)
	runtime.LockOSThread() // the kernel kills the program if its thread ends (endsWithParent)
	err = cmd.Run()
	runtime.UnlockOSThread()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.As(err, &exit):
		err = exitError{fmt.Sprintf("%s ended with exit code %d", c.name, exit.ExitCode()), exit}
	case errors.Is(err, exec.ErrWaitDelay):
		err = fmt.Errorf("%s has ended, but a program that it started keeps its output open", c.name)
	case err != nil:
		err = fmt.Errorf("%s cannot be run: %w", c.name, err)
	}
	return out.text.Bytes(), messages, err
}

// exitError is the error of a program that failed by itself. It unwraps to that of os/exec.
type exitError struct {
	text string
	exit *exec.ExitError
}

// Error names the program.
func (e exitError) Error() string { return e.text }

// Unwrap returns the cause.
func (e exitError) Unwrap() error { return e.exit }

// head is a buffer that keeps the beginning of what is written to it and discards the rest, so that the writer is never blocked.
type head struct {
	// text is not embedded, because io.Copy would use its ReadFrom, which has no limit.
	text      bytes.Buffer
	limit     int64
	truncated bool
	// full is called when something does not fit; may be nil.
	full func()
}

// Write keeps what fits. It never fails.
func (h *head) Write(text []byte) (int, error) {
	keep := text
	if left := h.limit - int64(h.text.Len()); h.limit > 0 && int64(len(text)) > left {
		keep, h.truncated = text[:left], true
		if h.full != nil {
			h.full()
		}
	}
	h.text.Write(keep)
	return len(text), nil
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// This file runs the program of --post-renderer. The program is the user's choice, so it is trusted with the manifest; it is still bounded
// in what it may print, because its output is read into memory.

// postRenderer runs the program of --post-renderer as Helm 3 does: the program reads the rendered manifest from its standard input, and
// what it prints replaces the manifest (helm v3.22.0 pkg/postrender/exec.go). Apart from credential plugins of the kubeconfig and
// downloader plugins (plugins.go), it is the only other program that helmdrift runs, and only if the user asks for it. It runs in the parent
// process, with the user's environment.
type postRenderer struct {
	command string
	args    []string
	// maxOutput is how many bytes it may print; 0 means no limit.
	maxOutput int64
}

// outputDelay is how long to wait for the output of a post-renderer after it was killed: a child of its own may hold the pipe open.
const outputDelay = time.Second

// maxComplaint is how many bytes of the standard error of a post-renderer an error quotes.
const maxComplaint = 2000

// run returns what the program makes of a manifest. A program that prints nothing is an error, as in Helm: an empty manifest would mean
// that the upgrade deletes every object.
func (p postRenderer) run(ctx context.Context, manifest []byte) ([]byte, error) {
	path, err := exec.LookPath(p.command)
	if err != nil {
		return nil, hinted{error: fmt.Errorf("post-renderer %s was not found or is not executable", p.command),
			hint: "--post-renderer takes the path of a program, or the name of one in PATH"}
	}
	out, complaint := &head{limit: p.maxOutput}, &head{limit: 2 * maxComplaint}
	cmd := exec.CommandContext(ctx, path, p.args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(manifest), out, complaint, outputDelay
	// The program is killed when the context ends, and the error then says why it ended.
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, p.exitError(err, complaint.text.String())
	}
	if out.truncated {
		return nil, hinted{error: fmt.Errorf("post-renderer %s prints more than %d MiB", p.command, p.maxOutput>>20),
			hint: "--render-memory allows more"}
	}
	if strings.TrimSpace(out.text.String()) == "" {
		return nil, fmt.Errorf("post-renderer %s printed nothing", p.command)
	}
	return out.text.Bytes(), nil
}

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

// exitError returns the error of a program that failed, with what it printed to its standard error.
func (p postRenderer) exitError(err error, complaint string) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("post-renderer %s ended with exit code %d", p.command, exit.ExitCode())
	} else {
		err = fmt.Errorf("post-renderer %s: %w", p.command, err)
	}
	complaint = strings.TrimSpace(complaint)
	if complaint == "" {
		return err
	}
	return fmt.Errorf("%w:\n%.*s", err, maxComplaint, complaint)
}

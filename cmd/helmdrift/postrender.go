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

// postRenderer runs the user's --post-renderer: the manifest goes to its standard input, what it prints is the manifest from
// then on (helm v3.22.0 pkg/postrender/exec.go). It is the only process that helmdrift starts, and only when told to.
type postRenderer struct {
	command string
	args    []string
	// most is how many bytes it may print; 0 is no bound.
	most int64
}

// linger is how long the output of a post-renderer that was killed is waited for: a child of its own may hold it open.
const linger = time.Second

// maxComplaint bounds what is quoted of a post-renderer's standard error.
const maxComplaint = 2000

func (p postRenderer) run(ctx context.Context, manifest []byte) ([]byte, error) {
	path, err := exec.LookPath(p.command)
	if err != nil {
		return nil, hinted{error: fmt.Errorf("post-renderer %s was not found, or is not executable", p.command),
			hint: "--post-renderer takes the path of a program, or its name where PATH has it"}
	}
	out, complaint := &head{most: p.most}, &head{most: 2 * maxComplaint}
	cmd := exec.CommandContext(ctx, path, p.args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(manifest), out, complaint, linger
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, p.failed(err, complaint.text.String())
	}
	if out.more {
		return nil, hinted{error: fmt.Errorf("post-renderer %s prints more than %d MiB", p.command, p.most>>20),
			hint: "--render-memory allows more"}
	}
	if strings.TrimSpace(out.text.String()) == "" {
		return nil, fmt.Errorf("post-renderer %s printed nothing", p.command)
	}
	return out.text.Bytes(), nil
}

// head keeps the beginning of what is written to it, and takes the rest.
type head struct {
	// text is not embedded: its ReadFrom would take everything.
	text bytes.Buffer
	most int64
	more bool
}

// Write never fails.
func (h *head) Write(text []byte) (int, error) {
	keep := text
	if left := h.most - int64(h.text.Len()); h.most > 0 && int64(len(text)) > left {
		keep, h.more = text[:left], true
	}
	h.text.Write(keep)
	return len(text), nil
}

func (p postRenderer) failed(err error, complaint string) error {
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
	return fmt.Errorf("%w, saying:\n%.*s", err, maxComplaint, complaint)
}

package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// PostRenderer runs the program of --post-renderer as Helm 3 does: the program reads the rendered manifest from its standard input, and
// what it prints replaces the manifest (helm v3.22.0 pkg/postrender/exec.go).
type PostRenderer struct {
	Command string
	Args    []string
	// MaxOutput is how many bytes it may print; 0 means no limit.
	MaxOutput int64
}

// maxComplaint is how many bytes of the standard error of a post-renderer an error quotes.
const maxComplaint = 2000

// Run returns what the program makes of a manifest. A program that prints nothing is an error, as in Helm: an empty manifest would mean
// that the upgrade deletes every object.
func (p PostRenderer) Run(ctx context.Context, manifest []byte) ([]byte, error) {
	path, err := exec.LookPath(p.Command)
	if err != nil {
		return nil, hint.New(fmt.Errorf("post-renderer %s was not found or is not executable", p.Command),
			"--post-renderer takes the path of a program, or the name of one in PATH")
	}
	out, complaint := &head{limit: p.MaxOutput}, &head{limit: 2 * maxComplaint}
	cmd := exec.CommandContext(ctx, path, p.Args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(manifest), out, complaint, outputDelay
	// The program is killed when the context ends, and the error then says why it ended.
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, p.exitError(err, complaint.text.String())
	}
	if out.truncated {
		return nil, hint.New(fmt.Errorf("post-renderer %s prints more than %d MiB", p.Command, p.MaxOutput>>20),
			"--render-memory allows more")
	}
	if strings.TrimSpace(out.text.String()) == "" {
		return nil, fmt.Errorf("post-renderer %s printed nothing", p.Command)
	}
	return out.text.Bytes(), nil
}

// exitError returns the error of a program that failed, with what it printed to its standard error.
func (p PostRenderer) exitError(err error, complaint string) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("post-renderer %s ended with exit code %d", p.Command, exit.ExitCode())
	} else {
		err = fmt.Errorf("post-renderer %s: %w", p.Command, err)
	}
	complaint = strings.TrimSpace(complaint)
	if complaint == "" {
		return err
	}
	return fmt.Errorf("%w:\n%.*s", err, maxComplaint, complaint)
}

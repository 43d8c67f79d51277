package program

import (
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
	name := "post-renderer " + p.Command
	c := command{name: name, path: path, args: p.Args, input: manifest, output: p.MaxOutput, messages: 2 * maxComplaint}
	out, messages, err := c.run(ctx)
	complaint := strings.TrimSpace(messages.text.String())
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && complaint != "":
		return nil, fmt.Errorf("%w:\n%.*s", err, maxComplaint, complaint)
	case err != nil:
		return nil, err
	case strings.TrimSpace(string(out)) == "":
		return nil, fmt.Errorf("%s printed nothing", name)
	}
	return out, nil
}

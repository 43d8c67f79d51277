package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// Helmfile runs the user's helmfile, and the helm that helmfile calls. Both have no limit of time: they run hooks and download charts.
type Helmfile struct {
	// Env are the variables that it gets in addition to those of this process, as NAME=value.
	Env []string
	// MaxOutput is how many bytes it may print; 0 means no limit.
	MaxOutput int64
}

// Run runs helmfile and returns its standard output, even if it fails. The error quotes the end of its standard error.
func (h Helmfile) Run(ctx context.Context, args ...string) ([]byte, error) {
	path, err := exec.LookPath("helmfile")
	if err != nil {
		return nil, hint.New(errors.New("helmfile was not found"), "install it: --helmfile lets helmfile itself load the file")
	}
	out, messages, err := command{name: "helmfile", path: path, args: args, env: h.Env, output: h.MaxOutput, messages: maxPluginLog}.run(ctx)
	if err == nil {
		return out, nil
	}
	text := messages.said()
	if last := end(text); last != text {
		text = "… " + last
	}
	if text != "" {
		err = fmt.Errorf("%w:\n%s", err, text)
	}
	return out, err
}

// HelmVersion returns the major version of a helm, "3" or "4".
func (h Helmfile) HelmVersion(ctx context.Context, helm string) (string, error) {
	path, err := exec.LookPath(helm)
	if err != nil {
		return "", hint.New(fmt.Errorf("%s, which helmfile calls as helm, was not found", helm), "install Helm, or set HELMFILE_HELM_BINARY")
	}
	out, _, err := command{
		name: helm, path: path, args: []string{"version", "--short"}, env: h.Env, output: maxComplaint, messages: maxComplaint,
	}.run(ctx)
	if err != nil {
		return "", err
	}
	for _, major := range []string{"3", "4"} {
		if strings.HasPrefix(string(out), "v"+major+".") {
			return major, nil
		}
	}
	return "", fmt.Errorf("%s is neither Helm 3 nor Helm 4", helm)
}

// Pass runs a program with standard streams and returns its exit code. What it prints also goes to a copy if there is one.
func Pass(path string, args []string, in io.Reader, out, messages, copyTo io.Writer) int {
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, messages
	if copyTo != nil {
		cmd.Stdout = io.MultiWriter(out, copyTo)
	}
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode()
	}
	_, _ = fmt.Fprintln(messages, "Error:", err)
	return 1
}

package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// This file is the flag --context, which has two meanings.

// contextFlag is the value of --context. To kubectl, that is a context of the kubeconfig, and to helm-diff a number of lines. A whole
// number counts as lines.
type contextFlag struct {
	context *string
	lines   string
}

// String returns the value as it was given.
func (f *contextFlag) String() string {
	if f.context == nil || f.lines != "" {
		return f.lines
	}
	return *f.context
}

// Type returns the placeholder in help texts.
func (f *contextFlag) Type() string { return "string" }

// Set stores a number of lines or the name of a context.
func (f *contextFlag) Set(text string) error {
	f.lines = ""
	if _, err := strconv.Atoi(text); err == nil {
		f.lines = text
		return nil
	}
	*f.context = text
	return nil
}

// LinesOfContext returns the number that was given to --context. The flag then does not count as changed. If the kubeconfig has a context
// of that name, the flag is ambiguous, which is an error.
func (c *Connection) LinesOfContext(flags *pflag.FlagSet) (string, error) {
	f := flags.Lookup("context")
	if f == nil { // a command that parses no flags
		return "", nil
	}
	value, _ := f.Value.(*contextFlag)
	if value == nil || value.lines == "" {
		return "", nil
	}
	f.Changed = false
	if raw, err := c.Raw(); err == nil && raw.Contexts[value.lines] != nil {
		return "", hint.New(fmt.Errorf("--context %s is ambiguous: the kubeconfig has a context of this name", value.lines),
			"--kube-context "+value.lines+" means that context; leave out the lines of context of helm-diff")
	}
	return value.lines, nil
}

// RefuseLines refuses a number as --context for the commands that helm-diff does not have.
func (c *Connection) RefuseLines(flags *pflag.FlagSet) error {
	lines, err := c.LinesOfContext(flags)
	if lines != "" {
		return hint.New(fmt.Errorf("--context %s: a number is no context", lines), "--kube-context names a context of the kubeconfig")
	}
	return err
}

package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// command is a call of a program, with its limits.
type command struct {
	// name is the program's name in errors, such as "the plugin secrets".
	name string
	path string
	args []string
	// dir is the working directory; "" means that of this process.
	dir string
	// env are variables that the program gets in addition to those of this process, as NAME=value.
	env   []string
	input []byte
	// time is how long it may run, and output is how many bytes it may print; 0 means no limit. messages is how many bytes of its standard
	// error are kept.
	time             time.Duration
	output, messages int64
}

// outputDelay is how long to wait for the output of a program after it has ended or was killed: a child of its own may hold the pipe open.
const outputDelay = time.Second

// run runs the program and returns its standard output, and the beginning of its standard error, even if it fails. It kills the program
// at once when it exceeds a limit or ctx ends; the error is then the cause.
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
	cmd.Dir = c.dir
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

// exitError is the error of a program that failed by itself. It unwraps to the error of os/exec.
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
	// full is called when something does not fit. It may be nil.
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

// said returns what was written, or, if that is too much, its beginning.
func (h *head) said() string {
	text := h.text.String()
	if h.truncated {
		text = wholeWords(text)
	}
	return strings.TrimSpace(text)
}

// blanks are where a text is cut. A part of a secret, such as the rest of a long token, would not be found and masked.
const blanks = " \t\r\n"

// wholeWords returns the beginning of a text that was cut off somewhere, without the last word, which may be a part of one.
func wholeWords(text string) string { return text[:max(strings.LastIndexAny(text, blanks), 0)] }

// beginning returns as many whole words of the beginning of a text as a message may quote.
func beginning(text string) string {
	if len(text) <= maxComplaint {
		return text
	}
	return strings.TrimSpace(wholeWords(text[:maxComplaint+1]))
}

// end returns as many whole words of the end of a text as a message may quote.
func end(text string) string {
	at := len(text) - maxComplaint
	if at <= 0 {
		return text
	}
	blank := strings.IndexAny(text[at-1:], blanks)
	if blank < 0 {
		return ""
	}
	return strings.TrimSpace(text[at+blank:])
}

// withComplaint adds what a program said to its error, which may be nil, after a blank or on lines of its own.
func withComplaint(err error, space, text string) error {
	if text = beginning(text); err == nil || text == "" {
		return err
	}
	return fmt.Errorf("%w:%s%s", err, space, text)
}

// Plugins runs downloader plugins of Helm within the limits of --render-timeout and --render-memory.
type Plugins struct {
	// Env are the variables that Helm sets for every plugin, as NAME=value.
	Env []string
	// Time is how long a plugin may run, and MaxOutput is how many bytes it may print; 0 means no limit.
	Time      time.Duration
	MaxOutput int64
	// Known learns the secrets in a plugin's output.
	Known *secret.Known
	// Show shows one line of a plugin's standard error, after a prefix.
	Show func(prefix, line string)
}

// maxPluginLog is how many bytes of the standard error of a plugin are shown.
const maxPluginLog = 64 << 10

// Run runs a plugin and returns its standard output. When the plugin has ended, Run shows its standard error without the secrets known
// by then, which include the values that the plugin returned.
func (p Plugins) Run(ctx context.Context, c fetch.PluginCommand) ([]byte, error) {
	out, messages, err := command{name: "the plugin " + c.Name, path: c.Path, args: c.Args, env: slices.Concat(p.Env, c.Env),
		time: p.Time, output: p.MaxOutput, messages: maxPluginLog}.run(ctx)
	p.Known.Add(c.Secrets...)
	if c.Values {
		p.Known.AddGiven(valuesOfLines(out))
	}
	p.show(c.Name, messages)
	return out, err
}

// show prints the messages of a plugin, each line with its name.
func (p Plugins) show(name string, messages *head) {
	text := messages.said()
	if messages.truncated {
		text += "\n…"
	}
	if text == "" {
		return
	}
	for line := range strings.Lines(p.Known.Scrub(text)) {
		p.Show(name+": ", strings.TrimRight(line, "\r\n"))
	}
}

// valuesOfLines returns the values on the lines of a values file, without parsing it: only a child process reads the text of a plugin
// as YAML.
func valuesOfLines(text []byte) (out []any) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		if _, value, found := strings.Cut(line, ": "); found {
			line = value
		}
		out = append(out, strings.Trim(line, `"'- []{},`))
	}
	return out
}

// PostRenderer runs the program of --post-renderer as Helm 3 does: the program reads the rendered manifest from its standard input, and
// what it prints replaces the manifest (helm v3.22.0 pkg/postrender/exec.go).
type PostRenderer struct {
	Command string
	Args    []string
	// Dir is the working directory; "" means that of this process.
	Dir string
	// MaxOutput is how many bytes it may print; 0 means no limit.
	MaxOutput int64
}

// maxComplaint is how many bytes of the standard error of a post-renderer an error quotes.
const maxComplaint = 2000

// Run passes a manifest through the program. A program that prints nothing is an error, as in Helm: an empty manifest would mean that
// the upgrade deletes every object.
func (p PostRenderer) Run(ctx context.Context, manifest []byte) ([]byte, error) {
	path, err := exec.LookPath(p.Command)
	if err != nil {
		return nil, hint.New(fmt.Errorf("post-renderer %s was not found or is not executable", p.Command),
			"--post-renderer takes the path of a program, or the name of one in PATH")
	}
	name := "post-renderer " + p.Command
	c := command{name: name, path: path, args: p.Args, dir: p.Dir, input: manifest, output: p.MaxOutput, messages: 2 * maxComplaint}
	out, messages, err := c.run(ctx)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return nil, withComplaint(err, "\n", messages.said())
	case err != nil:
		return nil, err
	case strings.TrimSpace(string(out)) == "":
		return nil, fmt.Errorf("%s printed nothing", name)
	}
	return out, nil
}

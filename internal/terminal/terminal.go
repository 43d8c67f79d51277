package terminal

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Streams are the streams of a command, and the environment that says what a terminal can show.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Env returns an environment variable; empty if it is not set.
	Env func(string) string
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns how many columns a stream has; 0, which is no limit, if it is no terminal.
func Width(w io.Writer) int {
	if !IsTerminal(w) {
		return 0
	}
	if width, _, err := term.GetSize(int(w.(*os.File).Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// Colored reports whether to use colour on a stream. The mode decides first: "always", "never" or "auto". Then NO_COLOR, FORCE_COLOR and
// CLICOLOR_FORCE, HELM_COLOR, and last whether the stream is a terminal.
func (s Streams) Colored(mode string, w io.Writer) bool {
	switch {
	case mode == "always":
		return true
	case mode == "never", s.Env("NO_COLOR") != "":
		return false
	case s.Env("FORCE_COLOR") != "", s.Env("CLICOLOR_FORCE") != "" && s.Env("CLICOLOR_FORCE") != "0":
		return true
	case s.Env("HELM_COLOR") == "always":
		return true
	case s.Env("HELM_COLOR") == "never":
		return false
	}
	return IsTerminal(w) && s.Env("TERM") != "dumb" && s.Env("CLICOLOR") != "0"
}

// Unicode reports whether the locale allows more than ASCII. It reads the variables as C programs do: the first one that is set decides,
// and the locale C means ASCII.
func (s Streams) Unicode() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := s.Env(name); locale != "" {
			return strings.Contains(strings.ToLower(strings.ReplaceAll(locale, "-", "")), "utf8")
		}
	}
	return true
}

// CanAsk reports whether a question can be asked on stderr and answered on stdin: both are terminals.
func (s Streams) CanAsk() bool { return IsTerminal(s.In) && IsTerminal(s.Err) }

// ReadYes reads the answer to a question and reports whether it is y or yes. Every other answer means no, and so does the end of the
// input. An interrupt ends the wait at once, and the error is its cause; the goroutine that still reads ends with the process.
func (s Streams) ReadYes(ctx context.Context) (bool, error) {
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(io.LimitReader(s.In, 1<<10)).ReadString('\n')
		answer <- line
	}()
	select {
	case line := <-answer:
		if !strings.HasSuffix(line, "\n") {
			fmt.Fprintln(s.Err)
		}
		word := strings.ToLower(strings.TrimSpace(line))
		return word == "y" || word == "yes", nil
	case <-ctx.Done():
		fmt.Fprintln(s.Err)
		return false, context.Cause(ctx)
	}
}

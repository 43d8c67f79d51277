package terminal

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/helmdrift/helmdrift/internal/escape"
)

// Streams are the streams of a command, and the environment that says what a terminal can show.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Env returns an environment variable, or "" if it is not set.
	Env func(string) string
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns how many columns a stream has. It returns 0, which means no limit, if the stream is not a terminal.
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
// input. An interrupt is an error.
func (s Streams) ReadYes(ctx context.Context) (bool, error) {
	word, err := s.ReadWord(ctx)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return word == "y" || word == "yes", err
}

// ReadWord reads the answer to a question, in lower case and without blanks around it. The error is io.EOF at the end of the input. An
// interrupt ends the wait at once, and the error is its cause; the goroutine that still reads ends with the process.
func (s Streams) ReadWord(ctx context.Context) (string, error) {
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(io.LimitReader(s.In, 1<<10)).ReadString('\n')
		answer <- line
	}()
	select {
	case line := <-answer:
		if !strings.HasSuffix(line, "\n") {
			fmt.Fprintln(s.Err)
			return "", io.EOF
		}
		return strings.ToLower(strings.TrimSpace(line)), nil
	case <-ctx.Done():
		fmt.Fprintln(s.Err)
		return "", context.Cause(ctx)
	}
}

// File returns the name of a file for a message: escaped, and as a link (OSC 8) if stderr is a terminal that shows links. Reports have no
// links, because what they name is in a cluster or a chart, and has no address.
func (s Streams) File(name string) string {
	shown := escape.Text(name, !s.Unicode())
	path, err := filepath.Abs(name)
	if err != nil || !IsTerminal(s.Err) || !s.showsLinks() {
		return shown
	}
	// The address cannot end the sequence: url escapes control characters and everything beyond ASCII.
	address := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")}
	const begin, end = "\x1b]8;;", "\x1b\\"
	return begin + address.String() + end + shown + begin + end
}

// showsLinks reports whether the terminal is known to show links, by the variables that it sets. FORCE_HYPERLINK decides, except in a CI
// system, in a multiplexer that may drop links, and for a terminal on another machine, which has other files.
func (s Streams) showsLinks() bool {
	terminal := s.Env("TERM")
	switch {
	case s.Env("CI") != "", s.Env("SSH_CONNECTION") != "", terminal == "dumb", s.Env("TMUX") != "", strings.HasPrefix(terminal, "screen"):
		return false
	case s.Env("FORCE_HYPERLINK") != "":
		return s.Env("FORCE_HYPERLINK") != "0"
	case s.Env("WT_SESSION") != "", s.Env("KITTY_WINDOW_ID") != "",
		slices.Contains([]string{"xterm-kitty", "alacritty", "xterm-ghostty"}, terminal):
		return true
	}
	// VTE 0.50.0 has links and crashes on some.
	if vte, err := strconv.Atoi(s.Env("VTE_VERSION")); err == nil {
		return vte > 5000
	}
	return slices.Contains([]string{"iTerm.app", "WezTerm", "vscode", "ghostty", "rio"}, s.Env("TERM_PROGRAM"))
}

// Page writes a document to stdout. If stdout is a terminal and the document does not fit on it, a pager shows it, as in git. If the pager
// cannot be started, the document is written directly. A shell that starts the pager says so with its exit code.
func (s Streams) Page(doc []byte) (paged bool, err error) {
	if pager := s.pager(doc); pager != nil {
		if stdin, err := pager.StdinPipe(); err == nil && pager.Start() == nil {
			// A reader who leaves the pager before the end closes the pipe. That is no error.
			_, _ = stdin.Write(doc)
			_ = stdin.Close()
			var exit *exec.ExitError
			if err := pager.Wait(); !errors.As(err, &exit) || !slices.Contains(notStarted(), exit.ExitCode()) {
				return true, nil
			}
		}
	}
	_, err = s.Out.Write(doc)
	return false, err
}

// notStarted returns the exit codes of a shell that cannot run a command, or does not find it (POSIX.1-2024, XCU 2.8.2).
func notStarted() []int { return []int{126, 127} }

// pager returns the command that shows a document, or nil if no pager is needed. HELMDRIFT_PAGER takes precedence over
// PAGER, and cat means no pager. Less gets the settings that git gives it: it ends if the document fits, keeps colours,
// and leaves the document on the screen (man git-config, core.pager).
func (s Streams) pager(doc []byte) *exec.Cmd {
	if !IsTerminal(s.Out) || !IsTerminal(s.In) || s.Env("TERM") == "dumb" {
		return nil
	}
	_, height, err := term.GetSize(int(s.Out.(*os.File).Fd()))
	if err != nil || bytes.Count(doc, []byte("\n")) < height {
		return nil
	}
	command := s.pagerCommand()
	if command == "" || command == "cat" {
		return nil
	}
	arguments := []string{"sh", "-c", command}
	if runtime.GOOS == "windows" {
		arguments = strings.Fields(command)
	}
	cmd := exec.Command(arguments[0], arguments[1:]...)
	cmd.Stdout, cmd.Stderr = s.Out, s.Err
	if s.Env("LESS") == "" {
		cmd.Env = append(cmd.Environ(), "LESS=FRX")
	}
	return cmd
}

// pagerCommand returns the command line of the pager, or nothing if there is none.
func (s Streams) pagerCommand() string {
	if chosen := cmp.Or(s.Env("HELMDRIFT_PAGER"), s.Env("PAGER")); chosen != "" {
		return chosen
	}
	if _, err := exec.LookPath("less"); err == nil {
		return "less"
	}
	return ""
}

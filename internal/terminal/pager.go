package terminal

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/term"
)

// Page writes a document to stdout. If stdout is a terminal and the document does not fit on it, a pager shows it, as in git. If the pager
// cannot be started, the document is written directly.
func (s Streams) Page(doc []byte) error {
	if pager := s.pager(doc); pager != nil {
		if stdin, err := pager.StdinPipe(); err == nil && pager.Start() == nil {
			// A reader who leaves the pager before the end closes the pipe. That is no error.
			_, _ = stdin.Write(doc)
			_ = stdin.Close()
			_ = pager.Wait()
			return nil
		}
	}
	_, err := s.Out.Write(doc)
	return err
}

// pager returns the command that shows a document; nil if it needs none. HELMDRIFT_PAGER takes precedence over PAGER; cat
// is none. Less gets the settings that git gives it: it ends if the document fits, keeps colours, and leaves the document
// on the screen (man git-config, core.pager).
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

// pagerCommand returns the command line of the pager; empty if there is none.
func (s Streams) pagerCommand() string {
	if chosen := cmp.Or(s.Env("HELMDRIFT_PAGER"), s.Env("PAGER")); chosen != "" {
		return chosen
	}
	if _, err := exec.LookPath("less"); err == nil {
		return "less"
	}
	return ""
}

package main

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/term"
)

// This file shows a report that is longer than the screen in a pager, as git does.

// page writes a document to stdout: through a pager if stdout is a terminal and the document does not fit on it, and else directly. A pager
// that cannot be started costs nothing: the document is written directly.
func (s streams) page(doc []byte) error {
	if pager := s.pager(doc); pager != nil {
		if stdin, err := pager.StdinPipe(); err == nil && pager.Start() == nil {
			// A reader who leaves the pager before the end closes the pipe. That is no error.
			_, _ = stdin.Write(doc)
			_ = stdin.Close()
			_ = pager.Wait()
			return nil
		}
	}
	_, err := s.out.Write(doc)
	return err
}

// pager returns the command that shows a document; nil if it needs none. HELMDRIFT_PAGER takes precedence over PAGER; cat
// is none. Less gets the settings that git gives it: it ends if the document fits, keeps colours, and leaves the document
// on the screen (man git-config, core.pager).
func (s streams) pager(doc []byte) *exec.Cmd {
	if !isTerminal(s.out) || !isTerminal(s.in) || s.env("TERM") == "dumb" {
		return nil
	}
	_, height, err := term.GetSize(int(s.out.(*os.File).Fd()))
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
	cmd.Stdout, cmd.Stderr = s.out, s.err
	cmd.Env = os.Environ()
	if s.env("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	return cmd
}

// pagerCommand returns the command line of the pager; empty if there is none.
func (s streams) pagerCommand() string {
	if chosen := cmp.Or(s.env("HELMDRIFT_PAGER"), s.env("PAGER")); chosen != "" {
		return chosen
	}
	if _, err := exec.LookPath("less"); err == nil {
		return "less"
	}
	return ""
}

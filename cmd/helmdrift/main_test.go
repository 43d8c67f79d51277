package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	ossignal "os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/jobs"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestStderrIsEscapedAsStdout checks that hostile text cannot control a terminal or a CI agent, whether it is in a report, an error, a
// hint, a note or Helm's log.
func TestStderrIsEscapedAsStdout(t *testing.T) {
	for _, locale := range []string{"C", "C.UTF-8"} {
		for _, hostile := range []string{
			"\x1b[2J\x1b]0;title\x07", "a\n::error::b\r\nc", "\u202euser\u2066", "a\u200bb\u00a0c", "\u009b31m\x9b31m",
			"e" + strings.Repeat("\u0301", 9), "##vso[task.complete]", "\u0430dmin\tadmin",
		} {
			var stdout, stderr bytes.Buffer
			s := cli.Streams{Out: &stdout, Err: &stderr, Known: &secret.Known{}, Env: func(name string) string {
				return map[string]string{"LC_ALL": locale}[name]
			}}
			r := &report.Report{Releases: []report.Release{{Warnings: []report.Message{{Message: hostile}}}}}
			if err := output.Write(&stdout, output.Text, r, output.Options{Text: text.Options{Unicode: s.Terminal().Unicode()}}); err != nil {
				t.Fatal(err)
			}
			s.Explain(hint.New(errors.New(hostile), hostile))
			s.Print("note: ", hostile)
			log.New(jobs.LogWriter(s.Known, escape.Writer(&stderr, !s.Terminal().Unicode())), "log: ", 0).Print(hostile)

			shown := escape.Lines(hostile, !s.Terminal().Unicode()) + "\n"
			if !strings.Contains(stdout.String(), "\nwarning: "+shown) {
				t.Errorf("%s: %q is on stdout as\n%s", locale, hostile, stdout.String())
			}
			if want := "Error: " + shown + "Hint: " + shown + "note: " + shown + "log: " + shown; stderr.String() != want {
				t.Errorf("%s: %q is on stderr as\n%swant\n%s", locale, hostile, stderr.String(), want)
			}
		}
	}
}

// settings is the only object of the release web on a settingsPlane.
const settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: prod}\n"

// settingsPlane starts a plane with one clean release.
func settingsPlane(t *testing.T) (p *plane, kubeconfig string) {
	t.Helper()
	p, kubeconfig = &plane{}, filepath.Join(t.TempDir(), "kubeconfig")
	server, err := p.start(kubeconfig, settings, settings, "deployed")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return p, kubeconfig
}

// interruptAt interrupts a command when it sends the first request whose path has a suffix.
func (p *plane) interruptAt(suffix string, interrupt func()) {
	p.meanwhile = func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, suffix) {
			interrupt()
			<-r.Context().Done() // the command has hung up
		}
	}
}

// TestInterrupted checks that an interrupted command says so, and does not name the request that it was waiting for.
func TestInterrupted(t *testing.T) {
	p, kubeconfig := settingsPlane(t)
	for _, args := range [][]string{{"diff", "web"}, {"diff"}, {"list"}} {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		p.interruptAt("/secrets", interrupt)
		var stderr bytes.Buffer
		code := run(ctx, append(args, "--kubeconfig", kubeconfig), cli.Streams{Out: io.Discard, Err: &stderr, Env: emptyEnv})
		if code != cli.ExitFailure || stderr.String() != "Error: interrupted\n" {
			t.Errorf("%s: code %d, stderr %q", args, code, stderr.String())
		}
	}
}

// TestInterruptedScan checks that an interrupted scan reports what it has read and what it has not.
func TestInterruptedScan(t *testing.T) {
	p, kubeconfig := settingsPlane(t)
	if err := p.store(recordOf("zoo", 1, "deployed", settings)); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"diff", "list"} {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		p.interruptAt("/secrets/sh.helm.release.v1.zoo.v1", interrupt)
		var stdout, stderr bytes.Buffer
		code := run(ctx, []string{command, "--concurrency", "1", "--kubeconfig", kubeconfig}, cli.Streams{Out: &stdout, Err: &stderr, Env: emptyEnv})
		for _, want := range []string{"web", "zoo", "interrupted before it was read"} {
			if text := stdout.String(); code != cli.ExitFailure || !strings.Contains(text, want) {
				t.Errorf("%s: code %d, stderr %q, no %q in\n%s", command, code, stderr.String(), want, text)
			}
		}
	}
}

// TestInterruptEnds checks that a signal ends a command that waits for something that no context cancels: here its standard input.
func TestInterruptEnds(t *testing.T) {
	if lastWork >= 2*time.Second {
		t.Errorf("after a signal, a command may go on for %s, and SECURITY.md promises two seconds", lastWork)
	}
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if ossignal.Ignored(signal) {
			t.Logf("%v is not tried: whoever started this test ignores it, and so do its children", signal)
			continue
		}
		command := exec.Command("helmdrift", "report", "-")
		stdin, err := command.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		command.Stderr = &stderr
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		// The pipe takes so many blanks only once the command reads them, and the command reads after it has set up its signal handler.
		if _, err := stdin.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
			t.Fatal(err)
		}
		if err := command.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		hangs := time.AfterFunc(time.Minute, func() { _ = command.Process.Kill() })
		_ = command.Wait()
		if hangs.Stop(); command.ProcessState.ExitCode() != cli.ExitFailure || !strings.HasSuffix(stderr.String(), "Error: interrupted\n") {
			t.Errorf("%v: %v, %s", signal, command.ProcessState, stderr.String())
		}
	}
}

// TestInterruptRemovesFiles interrupts a command while nobody reads what it prints. Nothing is left of its run of helmfile, although the
// command does not come to its end.
func TestInterruptRemovesFiles(t *testing.T) {
	_, kubeconfig := settingsPlane(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"helm":     "#!/bin/sh\necho v3.22.0\n",
		"helmfile": "#!/bin/sh\necho '{filepath: helmfile.yaml, helmBinary: helm, releases: [{name: web, namespace: prod, chart: x, installed: false}]}'\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := writer.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		t.Skip(err) // a pipe of this system cannot be filled
	}
	for err == nil {
		_, err = writer.Write(make([]byte, 4096))
	}
	temp := t.TempDir()
	command := exec.Command("helmdrift", "diff", "--helmfile", dir, "--kubeconfig", kubeconfig)
	command.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "TMPDIR="+temp)
	command.Stdout = writer
	var stderr bytes.Buffer
	command.Stderr = &stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = writer.Close()
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(10 * time.Millisecond) {
		if made, err := os.ReadDir(temp); err == nil && len(made) > 0 {
			break
		}
	}
	time.Sleep(2 * time.Second) // it cannot be seen from outside when the command prints
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 || command.ProcessState.ExitCode() != cli.ExitFailure {
		t.Errorf("%v is left: %v; %v, %s", left, err, command.ProcessState, stderr.String())
	}
}

// TestIgnoredHangup checks that a command under nohup goes on when its terminal is closed.
func TestIgnoredHangup(t *testing.T) {
	command := exec.Command("sh", "-c", "trap '' HUP; exec helmdrift report -")
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Skip(err)
	}
	var stderr bytes.Buffer
	command.Stderr = &stderr
	if err := command.Start(); err != nil {
		t.Skip(err) // there is no shell
	}
	time.Sleep(time.Second) // it cannot be seen from outside when the program has begun
	if err := command.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond)
	_, _ = io.WriteString(stdin, "no report")
	_ = stdin.Close()
	_ = command.Wait()
	if text := stderr.String(); strings.Contains(text, "interrupted") || !command.ProcessState.Exited() {
		t.Errorf("%v, %s", command.ProcessState, text)
	}
}

//go:build unix

package program

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestGroupIsKilled checks that the children of a program end with it. The child holds one end of a named pipe, and this test reads the
// other.
func TestGroupIsKilled(t *testing.T) {
	if terminal, err := os.Open("/dev/tty"); err == nil {
		_ = terminal.Close()
		t.Skip("a program on a terminal has no group of its own")
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	interrupted := errors.New("interrupted")
	ctx, interrupt := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() {
		reader, err := os.Open(pipe) // returns when the child of the program has opened it
		if err == nil {
			interrupt(interrupted)
			_, err = io.ReadAll(reader) // ends when nobody holds the pipe
		}
		ended <- err
	}()
	_, _, err := command{name: "the program", path: "/bin/sh", args: []string{"-c", "sleep 300 > " + pipe + " & wait"}}.run(ctx)
	if !errors.Is(err, interrupted) {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the child of the program outlives it")
	}
}

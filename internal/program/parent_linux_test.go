package program

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// pipeVariable names the pipe that the program of TestProgramEndsWithParent holds. It is set in the process that starts the program.
const pipeVariable = "HELMDRIFT_TEST_PIPE"

// TestProgramEndsWithParent checks that a program does not outlive the process that runs it, even if that is killed. The program holds one
// end of a named pipe, and this test reads the other.
func TestProgramEndsWithParent(t *testing.T) {
	if pipe := os.Getenv(pipeVariable); pipe != "" {
		_, _, err := command{name: "the program", path: "/bin/sh", args: []string{"-c", "exec sleep 300 > " + pipe}}.run(t.Context())
		t.Fatal(err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	parent := exec.Command(os.Args[0], "-test.run=^TestProgramEndsWithParent$")
	parent.Env = append(parent.Environ(), pipeVariable+"="+pipe)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		reader, err := os.Open(pipe) // returns when the program has opened it
		if err == nil {
			err = parent.Process.Kill()
			_, _ = io.ReadAll(reader) // ends when nobody holds the pipe
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the program outlives the process that ran it")
	}
	_ = parent.Wait() // it was killed
}

package controlplane

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// process is one running program of a plane, as recorded in its state file.
type process struct {
	Name string `json:"name"`
	PID  int    `json:"pid"`

	// The fields below are set only for a child of this launcher. exited is closed when it has ended, and killed is set if Kill ended it.
	program
	log    string
	exited chan struct{}
	killed bool
}

// program is what a process runs.
type program struct {
	name, binary string
	args         []string
	// ready is a path that answers 200 as soon as the program works; empty if nothing waits for it.
	ready string
}

// spawn starts a program with its output in a log file.
func spawn(p program, log string, detached bool) (process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return process{}, fmt.Errorf("open log: %w", err)
	}
	defer file.Close()
	child := exec.Command(p.binary, p.args...)
	// Up to 1 GiB of memory, a program spends a tenth less of its time on collecting garbage. The caller's own values come later and count.
	child.Env = append([]string{"GOGC=400", "GOMEMLIMIT=1GiB"}, os.Environ()...)
	child.Stdout, child.Stderr = file, file
	child.SysProcAttr = childAttributes(detached)
	started := make(chan error)
	exited := make(chan struct{})
	go func() {
		// The death signal is bound to the thread that started the child, not to the
		// process, so this thread must live as long as the child.
		runtime.LockOSThread()
		defer close(exited)
		err := child.Start()
		started <- err
		if err == nil {
			_ = child.Wait() // the log has the reason of its end
		}
	}()
	if err := <-started; err != nil {
		return process{}, fmt.Errorf("start %s: %w", p.name, err)
	}
	return process{Name: p.name, PID: child.Process.Pid, program: p, log: log, exited: exited}, nil
}

// alive reports whether the process still runs and is the one that was started. Every program of a plane has the plane's folder in its
// command line; an unrelated process with the same id does not. A child needs no such check, because its id stays its own until exited is
// closed. All launchers ask the system whether a process has ended, so that they give the same answer at the same time: a child ends before
// its parent waits for it.
func (p process) alive(dir string) bool {
	if p.exited == nil {
		return !ended(p.PID) && strings.Contains(commandLine(p.PID), dir)
	}
	select {
	case <-p.exited:
		return false
	default:
		return !ended(p.PID)
	}
}

// gone reports whether a process that was alive and was killed has ended. A process with
// no command line may have threads that are about to end.
func (p process) gone(dir string) bool {
	if ended(p.PID) {
		return true
	}
	line := commandLine(p.PID)
	return line != "" && p.exited == nil && !strings.Contains(line, dir)
}

// stop kills the process and waits until it is gone. It need not write its data, because the data is deleted next.
func (p process) stop(dir string) error {
	if !p.alive(dir) {
		return nil
	}
	if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop %s: %w", p.Name, err)
	}
	for range 500 {
		if p.gone(dir) {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("stop %s: process %d does not end", p.Name, p.PID)
}

// tail returns the end of the log, for the error about a program that ended.
func (p process) tail() string {
	const most = 2000
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text[max(0, len(text)-most):]))
}

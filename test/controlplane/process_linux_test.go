package controlplane

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

// asLeader names the environment variable that makes this program end its first thread and wait in another one.
const asLeader = "HELMDRIFT_CONTROLPLANE_END_FIRST_THREAD"

func init() {
	if os.Getenv(asLeader) == "" {
		return
	}
	// init runs in the first thread.
	runtime.LockOSThread()
	leader := syscall.Gettid()
	go func() {
		for {
			if text, _ := os.ReadFile("/proc/self/stat"); leader == os.Getpid() && zombieState(text) {
				break
			}
			runtime.Gosched()
		}
		os.Stdout.WriteString("ended\n")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the test closes it
		os.Exit(0)
	}()
	_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
}

// zombieState reports whether the text of /proc/PID/stat belongs to a zombie.
func zombieState(stat []byte) bool {
	for i := len(stat) - 1; i > 0; i-- {
		if stat[i] == ')' {
			return i+2 < len(stat) && stat[i+2] == 'Z'
		}
	}
	return false
}

// A process that has ended is not running, whether its parent has waited for it or not.
func TestAZombieDoesNotRun(t *testing.T) {
	child := exec.Command("sleep", "0")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = child.Wait() })
	awaitEnd(t, child.Process.Pid)
	// The launcher that started the process has not noticed yet that it ended; the other one has it from the state file.
	for name, one := range map[string]process{
		"started": {Name: etcd, PID: child.Process.Pid, exited: make(chan struct{})},
		"loaded":  {Name: etcd, PID: child.Process.Pid},
	} {
		plane := &Plane{Dir: t.TempDir(), processes: []process{one}}
		if plane.Running() {
			t.Errorf("%s: a zombie counts as running", name)
		}
		if err := plane.Stop(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A process whose first thread has ended looks like a zombie, and still holds its files and ports.
func TestAProcessLivesUntilItsLastThreadEnds(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(program)
	child.Env = append(os.Environ(), asLeader+"=yes")
	hold, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
	if line, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	if ended(child.Process.Pid) {
		t.Error("a process with a thread counts as ended")
	}
	if err := hold.Close(); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, child.Process.Pid)
}

// awaitEnd waits for a child to become a zombie, without reaping it.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	const exitedNoWait = syscall.WEXITED | syscall.WNOWAIT
	const byPID = 1
	for {
		// Without a place for the answer, waitid only waits.
		_, _, err := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(pid), 0, exitedNoWait, 0, 0)
		if err == syscall.EINTR {
			continue
		}
		if err != 0 {
			t.Fatal(err)
		}
		return
	}
}

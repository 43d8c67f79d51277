//go:build unix

package program

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts a program into a process group of its own, which is killed as a whole if the program is killed. The
// exception is a process on a terminal. There the program stays in the group of this process, because a plugin may ask for a passphrase,
// and the system stops whoever reads from the terminal in another group (termios(3), SIGTTIN); the user is there to interrupt both. In any
// case the program ends with this process, even if that is killed.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = endsWithParent()
	if terminal, err := os.Open("/dev/tty"); err == nil { // it opens for a process that has a controlling terminal
		_ = terminal.Close()
		return
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

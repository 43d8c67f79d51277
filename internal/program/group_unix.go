//go:build unix

package program

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts a program into its own process group, so that killing the program kills the whole group. On a terminal, the program stays
// in the group of this process: a plugin may ask for a passphrase, and the system stops a process of another group that reads from the
// terminal (termios(3), SIGTTIN). There, the user can interrupt both. In any case the program ends with this process, even if that is
// killed.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = endsWithParent()
	if terminal, err := os.Open("/dev/tty"); err == nil { // it opens for a process that has a controlling terminal
		_ = terminal.Close()
		return
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

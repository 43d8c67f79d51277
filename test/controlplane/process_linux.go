package controlplane

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// childAttributes ties an attached child's life to its parent's, even when the
// parent is killed, and puts a detached one out of the terminal's reach.
func childAttributes(detached bool) *syscall.SysProcAttr {
	if detached {
		return &syscall.SysProcAttr{Setsid: true}
	}
	// An own group: Ctrl-C reaches the launcher only, which then stops all in order.
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// commandLine returns what a process was started with, "" when it is gone.
func commandLine(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(bytes.ReplaceAll(text, []byte{0}, []byte{' '})))
}

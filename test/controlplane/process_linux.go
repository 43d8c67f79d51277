package controlplane

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// childAttributes ends an attached child with its parent, even if the parent is
// killed, and puts a detached child out of the terminal's reach.
func childAttributes(detached bool) *syscall.SysProcAttr {
	if detached {
		return &syscall.SysProcAttr{Setsid: true}
	}
	// In a process group of its own, Ctrl-C reaches only the launcher, which then stops all in order.
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// commandLine returns the command line of a process, or "" if it has ended.
func commandLine(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(bytes.ReplaceAll(text, []byte{0}, []byte{' '})))
}

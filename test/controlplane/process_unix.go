//go:build unix && !linux

package controlplane

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// childAttributes cannot end children with a killed parent on this system.
func childAttributes(detached bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: detached, Setpgid: !detached}
}

// ended reports whether a process has ended. Until its parent waits for it, it is a zombie, which ps still lists.
func ended(pid int) bool {
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err != nil || strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
}

// commandLine returns the command line of a process, or "" if it has none any more.
func commandLine(pid int) string {
	text, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

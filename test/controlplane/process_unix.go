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

// commandLine returns the command line of a process, or "" if it has ended.
func commandLine(pid int) string {
	text, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

package controlplane

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
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

// ended reports whether a process and all its threads have ended. Its entry under /proc may still be there: until its parent waits for it,
// a process is a zombie. So is the first thread of a process whose other threads still hold its files and ports.
func ended(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
	}
	// proc(5): after the name in parentheses, which may have any character, the state is the first field and the number of threads the 18th.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 18 {
		return false
	}
	zombie := string(fields[0]) == "Z" || string(fields[0]) == "X"
	return zombie && (string(fields[17]) == "0" || string(fields[17]) == "1")
}

// commandLine returns the command line of a process, or "" if it has none any more.
func commandLine(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(bytes.ReplaceAll(text, []byte{0}, []byte{' '})))
}

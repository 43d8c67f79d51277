//go:build unix && !linux

package confine

import (
	"os"
	"syscall"
)

func executable() (string, error) { return os.Executable() }

// childAttributes puts a child into a process group of its own.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// limitData does nothing: RLIMIT_DATA does not count what the Go runtime allocates on these systems.
func limitData(int64) {}

//go:build unix && !linux

package confine

import (
	"os"
	"syscall"
)

func self() (string, error) { return os.Executable() }

// apart puts a child into a process group of its own.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// limitData does nothing: RLIMIT_DATA does not count what the Go runtime allocates on these systems.
func limitData(int64) {}

//go:build !unix

package confine

import (
	"os"
	"syscall"
)

func self() (string, error) { return os.Executable() }

func apart() *syscall.SysProcAttr { return nil }

// limitData leaves the work to the watchdog.
func limitData(int64) {}

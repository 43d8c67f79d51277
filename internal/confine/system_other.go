//go:build !unix

package confine

import (
	"os"
	"syscall"
)

func executable() (string, error) { return os.Executable() }

func childAttributes() *syscall.SysProcAttr { return nil }

// limitData does nothing: only the watchdog bounds the memory.
func limitData(int64) {}

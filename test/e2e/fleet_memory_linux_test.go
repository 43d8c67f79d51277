package e2e

import (
	"os"
	"syscall"
)

// peakMemory returns the largest resident memory of a process that has ended.
func peakMemory(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss * 1024
}

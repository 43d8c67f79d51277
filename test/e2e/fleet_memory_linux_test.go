package e2e

import (
	"os"
	"syscall"
)

// peakMemory returns the largest resident memory of a process that has ended; 0 if it is not known. Linux counts what the parent held when
// it started the process, so a number that is no larger than the test's own says nothing about the process.
func peakMemory(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	var own syscall.Rusage
	if !ok || syscall.Getrusage(syscall.RUSAGE_SELF, &own) != nil || usage.Maxrss <= own.Maxrss {
		return 0
	}
	return usage.Maxrss * 1024
}

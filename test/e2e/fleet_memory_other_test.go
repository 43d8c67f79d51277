//go:build !linux

package e2e

import "os"

// peakMemory is not known on this system.
func peakMemory(*os.ProcessState) int64 { return 0 }

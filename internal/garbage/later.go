package garbage

import (
	"runtime"
	"runtime/debug"
)

// firstCollection is how many bytes of memory the program may use before the runtime collects garbage for the first time: one less than 64
// MiB, so that nobody else sets this limit.
const firstCollection = 64<<20 - 1

// Later puts off the first collection of garbage. Most commands end before it, and collecting took a quarter of their processor time.
// From the first collection on, the runtime collects as usual. A user's own GOGC or GOMEMLIMIT is left alone.
func Later(env func(string) string) {
	if env("GOGC") != "" || env("GOMEMLIMIT") != "" {
		return
	}
	limit := debug.SetMemoryLimit(firstCollection)
	debug.SetGCPercent(-1)
	collected := &struct{ self *int }{} // nobody refers to it, so the first collection finds it
	runtime.AddCleanup(collected, func(struct{}) {
		if debug.SetMemoryLimit(-1) == firstCollection { // a scan of a fleet has its own settings
			debug.SetGCPercent(100)
			debug.SetMemoryLimit(limit)
		}
	}, struct{}{})
}

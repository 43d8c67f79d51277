package garbage

import "runtime/debug"

// These are the memory that a scan aims at: a constant for the pages of objects, an amount for each release, and another one if charts are
// rendered.
const (
	scanMemory    = 130 << 20
	releaseMemory = 160 << 10
	chartMemory   = 120 << 20
)

// LimitScan makes the runtime keep the memory of a scan of some releases low, at the price of some processor time. Charts is set if it renders
// charts. This is not a hard limit.
func LimitScan(env func(string) string, releases int, charts bool) {
	if env("GOMEMLIMIT") == "" {
		limit := scanMemory + int64(releases)*releaseMemory
		if charts {
			limit += chartMemory
		}
		debug.SetMemoryLimit(limit)
		collectAsUsual(env)
	}
}

package garbage

import "runtime/debug"

// These are the memory that a scan aims at: a constant for the pages of objects, an amount for each release, and another one if charts are
// rendered.
const (
	scanMemory    = 130 << 20
	releaseMemory = 160 << 10
	chartMemory   = 120 << 20
)

// scanPercent lets the memory of a scan triple between two collections, as far as the limit allows that: 30 MB more than with 100, the
// default of Go, for 83 public charts, and 8 % less processor time.
const scanPercent = 200

// LimitScan makes the runtime keep the memory of a scan of some releases low, at the price of some processor time. Charts is set if it
// renders charts. This is not a hard limit.
func LimitScan(env func(string) string, releases int, charts bool) {
	if env("GOMEMLIMIT") == "" {
		limit := scanMemory + int64(releases)*releaseMemory
		if charts {
			limit += chartMemory
		}
		debug.SetMemoryLimit(limit)
		if env("GOGC") == "" {
			debug.SetGCPercent(scanPercent)
		}
	}
}

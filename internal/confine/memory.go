package confine

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// watchEvery is the interval of the watchdog. A loop of allocations takes some megabytes in that time.
const watchEvery = 10 * time.Millisecond

// garbage is how much garbage a child may hold, in percent of what it uses. Most jobs use so little that collecting would take much of
// their time. Close to the limit of memory, garbage is collected in any case.
const garbage = 400

// limitMemory bounds the memory of this process as far as the system allows. It keeps a lower limit that the process inherited.
func limitMemory(most int64) {
	debug.SetGCPercent(garbage)
	debug.SetMemoryLimit(most)
	limitData(most)
}

// watch ends the process once the memory in use exceeds the limit. It returns when the job is done.
func (c Child) watch(most int64, done <-chan struct{}) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		if !exceeds("/memory/classes/heap/objects:bytes", most) {
			continue
		}
		// Garbage does not count.
		runtime.GC()
		if exceeds("/gc/heap/live:bytes", most) {
			c.Exit(exitMemory)
		}
	}
}

// exceeds reports whether a metric of the runtime is above a limit.
func exceeds(metric string, most int64) bool {
	sample := []metrics.Sample{{Name: metric}}
	metrics.Read(sample)
	return sample[0].Value.Uint64() > uint64(most)
}

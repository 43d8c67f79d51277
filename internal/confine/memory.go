package confine

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// watchEvery is how often the heap is looked at. A loop of allocations makes some megabytes in that time.
const watchEvery = 10 * time.Millisecond

// limitMemory bounds this process, as far as the system can. What was inherited counts where it is less.
func limitMemory(most int64) {
	debug.SetMemoryLimit(most)
	limitData(most)
}

// watch ends the process once it holds more than it may.
func (c Child) watch(most int64) {
	for range time.Tick(watchEvery) {
		if !exceeds("/memory/classes/heap/objects:bytes", most) {
			continue
		}
		// What waits to be collected does not count.
		runtime.GC()
		if exceeds("/gc/heap/live:bytes", most) {
			c.Exit(exitMemory)
		}
	}
}

func exceeds(metric string, most int64) bool {
	sample := []metrics.Sample{{Name: metric}}
	metrics.Read(sample)
	return sample[0].Value.Uint64() > uint64(most)
}

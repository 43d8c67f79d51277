package garbage

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestLater checks that the first collection makes the runtime collect as usual, and that a user's own settings stay.
func TestLater(t *testing.T) {
	limit, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(123)
	t.Cleanup(func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	})
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		Later(func(asked string) string { return map[bool]string{true: "200"}[asked == name] })
		if debug.SetMemoryLimit(-1) != limit {
			t.Errorf("%s of the user is overridden", name)
		}
	}
	Later(func(string) string { return "" })
	if got := debug.SetMemoryLimit(-1); got != firstCollection {
		t.Errorf("the limit is %d", got)
	}
	for range 100 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond) // the cleanup runs in another goroutine
		if debug.SetMemoryLimit(-1) == limit {
			break
		}
	}
	if got := debug.SetGCPercent(123); got != 100 || debug.SetMemoryLimit(-1) != limit {
		t.Errorf("after a collection: percent %d, limit %d", got, debug.SetMemoryLimit(-1))
	}
}

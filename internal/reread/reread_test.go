package reread

import (
	"sync"
	"sync/atomic"
	"testing"
)

// TestReadsOnce checks that each value is made once, although many goroutines ask for it.
func TestReadsOnce(t *testing.T) {
	var values Map[int, int]
	var made atomic.Int32
	var group sync.WaitGroup
	for i := range 64 {
		group.Go(func() {
			key := i % 4
			if got := values.Get(key, func() (int, bool) { made.Add(1); return key * 10, true }); got != key*10 {
				t.Errorf("value of %d is %d", key, got)
			}
		})
	}
	group.Wait()
	if made.Load() != 4 {
		t.Errorf("%d values were made", made.Load())
	}
}

// TestReadsAgain checks that a value that cannot be read is read again for later callers, a few times, and then stays as it is.
func TestReadsAgain(t *testing.T) {
	var values Map[string, int]
	calls := 0
	read := func(from int) func() (int, bool) {
		return func() (int, bool) {
			calls++
			return calls, calls >= from
		}
	}
	for i, want := range []int{1, 2, 2, 2} {
		if got := values.Get("second attempt", read(2)); got != want {
			t.Errorf("call %d: %d, not %d", i, got, want)
		}
	}
	calls = 0
	for i, want := range []int{1, 2, 3, 3, 3} {
		if got := values.Get("never", read(9)); got != want {
			t.Errorf("call %d: %d, not %d", i, got, want)
		}
	}
}

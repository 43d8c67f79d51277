package once

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// TestGet lets goroutines ask for one answer, which is found out once and kept with its error, and then asks for another one.
func TestGet(t *testing.T) {
	var m Map[string, int]
	var found atomic.Int32
	broken := errors.New("broken")
	find := func() (int, error) { return int(found.Add(1)), broken }
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, err := m.Get("a", find); got != 1 || !errors.Is(err, broken) {
				t.Errorf("the answer is %d, %v", got, err)
			}
		})
	}
	all.Wait()
	if got, err := m.Get("b", find); got != 2 || !errors.Is(err, broken) {
		t.Errorf("the answer for another key is %d, %v", got, err)
	}
}

package fleet

import "testing"

// TestOnceAgain checks that a value that cannot be read is read again for later callers, a few times, and then stays as it is.
func TestOnceAgain(t *testing.T) {
	var values once[string, int]
	calls := 0
	read := func(from int) func() (int, bool) {
		return func() (int, bool) {
			calls++
			return calls, calls >= from
		}
	}
	for i, want := range []int{1, 2, 2, 2} {
		if got := values.get("second attempt", read(2)); got != want {
			t.Errorf("call %d: %d, not %d", i, got, want)
		}
	}
	calls = 0
	for i, want := range []int{1, 2, 3, 3, 3} {
		if got := values.get("never", read(9)); got != want {
			t.Errorf("call %d: %d, not %d", i, got, want)
		}
	}
}

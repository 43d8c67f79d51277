package repair

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain collects garbage less often than usual, which takes a third off the processor time of these tests.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

package threeway

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain collects garbage less often than usual, which takes a quarter off the processor time of these tests.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

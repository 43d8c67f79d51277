package progress

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helmdrift/helmdrift/internal/output/layout"
)

// TestActivity: nothing is written within a second, then one line that is written over itself and removed at the end. It starts again.
func TestActivity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		terminal := &screen{t: t, width: 40}
		a := NewActivity(terminal, layout.Options{Width: 40})
		a.Say("connecting")
		time.Sleep(activityAfter - time.Millisecond)
		a.Say("reading the release")
		if synctest.Wait(); terminal.writes > 0 {
			t.Errorf("%d writes within a second", terminal.writes)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		for _, want := range []string{"reading the release", "reading 42 objects", "rendering a chart with a rather long n"} {
			if want != "reading the release" {
				a.Say(want + strings.Repeat("x", len(want)/38*20))
			}
			if got := strings.TrimRight(string(terminal.line), " "); !strings.HasPrefix(got, want) {
				t.Errorf("the line is %q, want %q", got, want)
			}
		}
		a.Stop()
		if got := strings.TrimSpace(string(terminal.line)); got != "" || len(terminal.lines) > 0 {
			t.Errorf("%q and %q are left", got, terminal.lines)
		}
		before := terminal.writes
		a.Say("asking the server")
		a.Stop()
		time.Sleep(time.Minute)
		if synctest.Wait(); terminal.writes != before {
			t.Error("a stopped line is written")
		}
	})
	var none *Activity
	none.Say("reading")
	none.Stop()
}

package forecast

import (
	"testing"
	"time"
)

// TestSchedule checks when schedules are due, and which are not read.
func TestSchedule(t *testing.T) {
	for _, c := range []struct{ schedule, zone, after, want string }{
		{"* * * * *", "UTC", "2026-01-01T00:00:30Z", "2026-01-01T00:01:00Z"},
		{"0 2 * * *", "UTC", "2026-01-01T02:00:00Z", "2026-01-02T02:00:00Z"},
		{"*/15 9-17 * * mon-fri", "UTC", "2026-01-02T17:50:00Z", "2026-01-05T09:00:00Z"},
		{"5/20 * * * *", "UTC", "2026-01-01T00:45:00Z", "2026-01-01T01:05:00Z"},
		{"0 0 1,15 * ?", "UTC", "2026-01-02T00:00:00Z", "2026-01-15T00:00:00Z"},
		{"0 0 13 * 5", "UTC", "2026-01-03T00:00:00Z", "2026-01-09T00:00:00Z"},
		{"0 0 */2 * 1", "UTC", "2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z"},
		{"0 0 29 FEB *", "UTC", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
		{"@monthly", "UTC", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"},
		{"0 2 * * *", "Europe/Berlin", "2026-01-01T00:30:00Z", "2026-01-01T01:00:00Z"},
		{"30 2 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-30T00:30:00Z"},
		{"0 0 31 2 *", "UTC", "2026-01-01T00:00:00Z", ""},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Skip(err)
		}
		s, err := parseSchedule(c.schedule)
		if err != nil {
			t.Errorf("%s: %v", c.schedule, err)
			continue
		}
		after, _ := time.Parse(time.RFC3339, c.after)
		got := ""
		if next := s.Next(after.In(zone)); !next.IsZero() {
			got = next.UTC().Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("%s in %s after %s: got %s, want %s", c.schedule, c.zone, c.after, got, c.want)
		}
	}
	for _, text := range []string{"", "* * * *", "60 * * * *", "* * 0 * *", "*/0 * * * *", "5-1 * * * *", "a * * * *", "@every 1h", "TZ=UTC * * * * *", "TZ=0"} {
		if _, err := parseSchedule(text); err == nil {
			t.Errorf("schedule %q has no error", text)
		}
	}
}

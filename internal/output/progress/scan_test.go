package progress

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/internal/output/layout"
)

// screen is a terminal of one line that understands carriage returns, and keeps the finished lines.
type screen struct {
	t      *testing.T
	width  int
	lines  []string
	line   []rune
	cursor int
	writes int
}

func (s *screen) Write(text []byte) (int, error) {
	s.writes++
	for _, r := range string(text) {
		switch {
		case r == '\r':
			s.cursor = 0
		case r == '\n':
			s.lines, s.line, s.cursor = append(s.lines, strings.TrimRight(string(s.line), " ")), nil, 0
		default:
			for len(s.line) <= s.cursor {
				s.line = append(s.line, ' ')
			}
			s.line[s.cursor] = r
			if s.cursor++; s.width > 0 && s.cursor >= s.width {
				s.t.Errorf("%q reaches the last column", string(s.line))
			}
		}
	}
	return len(text), nil
}

func (s *screen) shows() string { return strings.TrimRight(string(s.line), " ") }

// fakeClock is a clock that only the test moves.
type fakeClock struct{ time time.Time }

func (c *fakeClock) now() time.Time        { return c.time }
func (c *fakeClock) after(d time.Duration) { c.time = c.time.Add(d) }
func newFakeProgress(t *testing.T, opts layout.Options) (*Scan, *screen, *fakeClock) {
	s, c := &screen{t: t, width: opts.Width}, &fakeClock{time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}
	return NewScan(s, opts, c.now), s, c
}

// TestProgress follows a scan from the search to the end.
func TestProgress(t *testing.T) {
	p, s, clock := newFakeProgress(t, layout.Options{Unicode: true, Width: 80})
	for _, step := range []struct {
		after                        time.Duration
		done, total, drifted, errors int
		want                         string
	}{
		{0, 0, 0, 0, 0, "searching for releases"},
		{time.Minute, 0, 200, 0, 0, "comparing 0 of 200 releases"},
		{500 * time.Millisecond, 20, 200, 0, 0, "comparing 20 of 200 releases"},
		{1500 * time.Millisecond, 80, 200, 1, 0, "comparing 80 of 200 releases · 1 drifted · about 3 s left"},
		{4 * time.Second, 120, 200, 3, 1, "comparing 120 of 200 releases · 3 drifted · 1 error · about 4 s left"},
		{time.Minute, 121, 200, 3, 2, "comparing 121 of 200 releases · 3 drifted · 2 errors · about 43 s left"},
		{50 * time.Minute, 122, 200, 3, 2, "comparing 122 of 200 releases · 3 drifted · 2 errors · about 32 min left"},
		{time.Second, 200, 200, 3, 2, "comparing 200 of 200 releases · 3 drifted · 2 errors"},
	} {
		clock.after(step.after)
		p.Update(step.done, step.total, step.drifted, step.errors)
		if got := s.shows(); got != step.want {
			t.Errorf("after %d releases: %q, want %q", step.done, got, step.want)
		}
	}
	p.Done()
	clock.after(time.Second)
	p.Update(1, 2, 3, 4)
	if s.shows() != "" || s.cursor != 0 || len(s.lines) != 0 {
		t.Errorf("at the end the terminal shows %q and %q, with the cursor at %d", s.lines, s.shows(), s.cursor)
	}
}

// TestProgressIsSeldom: the line is written ten times per second and not more.
func TestProgressIsSeldom(t *testing.T) {
	p, s, clock := newFakeProgress(t, layout.Options{Width: 80})
	for i := range 3000 {
		p.Update(i, 3000, 0, 0)
		clock.after(time.Millisecond)
	}
	if s.writes != 30 {
		t.Errorf("%d writes in 3 seconds", s.writes)
	}
	if p.Done(); s.shows() != "" {
		t.Errorf("%q remains", s.shows())
	}
}

// TestProgressFits: the line never reaches the last column, and a shorter line leaves nothing of a longer one.
func TestProgressFits(t *testing.T) {
	for _, width := range []int{1, 2, 10, 40, 80, 0} {
		for _, unicode := range []bool{true, false} {
			p, s, clock := newFakeProgress(t, layout.Options{Unicode: unicode, Width: width})
			for _, done := range []int{100, 1, 2000} {
				clock.after(2 * time.Second)
				p.Update(done, 3000, done/10, done/20)
				want := fmt.Sprintf("comparing %d of 3000 releases", done)
				if got := s.shows(); !strings.HasPrefix(got, want) && (width == 0 || width >= layout.MinWidth) || strings.Count(got, "comparing") > 1 {
					t.Errorf("at %d columns: %q", width, got)
				}
			}
			if p.Done(); s.shows() != "" {
				t.Errorf("at %d columns %q remains", width, s.shows())
			}
		}
	}
}

// TestProgressAndLog: a log line stands alone, and the progress line comes back below it.
func TestProgressAndLog(t *testing.T) {
	p, s, clock := newFakeProgress(t, layout.Options{Width: 80})
	p.Update(1, 3, 0, 0)
	fmt.Fprintln(p, "a warning")
	p.Update(2, 3, 1, 0)
	if got := s.shows(); len(s.lines) != 1 || s.lines[0] != "a warning" || got != "comparing 2 of 3 releases; 1 drifted" {
		t.Errorf("the terminal shows %q and %q", s.lines, got)
	}
	p.Done()
	clock.after(time.Second)
	fmt.Fprintln(p, "another")
	if s.shows() != "" || s.lines[1] != "another" {
		t.Errorf("the terminal shows %q and %q", s.lines, s.shows())
	}
}

// TestProgressOfSeveralWorkers: the methods may be called at the same time.
func TestProgressOfSeveralWorkers(t *testing.T) {
	var out bytes.Buffer
	p := NewScan(&out, layout.Options{Width: 80}, time.Now)
	var workers sync.WaitGroup
	for worker := range 4 {
		workers.Go(func() {
			for i := range 100 {
				p.Update(i, 400, worker, 0)
				fmt.Fprintln(p, "log")
			}
		})
	}
	workers.Wait()
	p.Done()
	if got := strings.Count(out.String(), "log\n"); got != 400 {
		t.Errorf("%d of 400 lines are written", got)
	}
}

// TestProgressOfAList: a list compares nothing.
func TestProgressOfAList(t *testing.T) {
	p, s, _ := newFakeProgress(t, layout.Options{Unicode: true, Width: 80})
	p.Reading = true
	p.Update(3, 20, 0, 1)
	if got := s.shows(); got != "reading 3 of 20 releases · 1 error" {
		t.Errorf("shows %q", got)
	}
}

package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/monospace"
)

const (
	// progressEvery is the time between two writes of the progress line.
	progressEvery = 100 * time.Millisecond
	// estimateAfter is how long a scan runs before its remaining time is estimated. The first releases say little about the others.
	estimateAfter = time.Second
)

// Scan is a line on a terminal that says how far a scan is: "comparing 120 of 200 releases · 3 drifted · 1 error · about 4 s left".
// The line is written over itself at most ten times per second, and Done takes it away. Callers should not make one without a terminal.
// Its methods may be called at the same time.
type Scan struct {
	// Reading says that the releases are only read and not compared.
	Reading bool

	statusLine
	style layout.Style
	now   func() time.Time

	mu sync.Mutex
	// written is the time when the line was last written.
	written time.Time
	// started is the time when the first release was begun, and atStart is how many were done by then.
	started time.Time
	atStart int
	over    bool
}

// NewScan returns a progress line on w, laid out as the options say. Now is the clock.
func NewScan(w io.Writer, opts layout.Options, now func() time.Time) *Scan {
	return &Scan{statusLine: statusLine{w: w, width: opts.Width}, style: layout.NewStyle(opts), now: now}
}

// Update says how many of all releases have been compared, and how many of those drifted or have an error. Total is 0 while the releases
// are searched for.
func (p *Scan) Update(done, total, drifted, errors int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if total > 0 && p.started.IsZero() {
		p.started, p.atStart = now, done
	}
	if p.over || p.shown > 0 && now.Sub(p.written) < progressEvery {
		return
	}
	p.written = now
	p.show(p.line(now, done, total, drifted, errors))
}

// Write writes a message where the line stood, and the next Update writes the line again, below it. So a logger may write to the same
// terminal. Each message is whole lines.
func (p *Scan) Write(message []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show("")
	return p.w.Write(message)
}

// Done takes the line away. Later updates write nothing.
func (p *Scan) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show("")
	p.over = true
}

// line returns the text of the line, without its last parts if they do not fit. The remaining time follows from the rate since the first
// release.
func (p *Scan) line(now time.Time, done, total, drifted, errors int) string {
	if total == 0 {
		return "searching for releases"
	}
	verb := "comparing"
	if p.Reading {
		verb = "reading"
	}
	said := layout.Clauses{fmt.Sprintf("%s %d of %s", verb, done, english.Count(total, "release"))}
	said.AddIf(drifted > 0, fmt.Sprintf("%d drifted", drifted))
	said.Count(errors, "error")
	if passed, compared := now.Sub(p.started), done-p.atStart; passed >= estimateAfter && compared > 0 && done < total {
		left := time.Duration(float64(passed) / float64(compared) * float64(total-done))
		said = append(said, "about "+layout.Span(max(left, time.Second))+" left")
	}
	for len(said) > 1 && p.width > 0 && monospace.Width(strings.Join(said, p.style.Dot)) >= p.width {
		said = said[:len(said)-1]
	}
	return strings.Join(said, p.style.Dot)
}

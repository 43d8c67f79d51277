package text

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/helmdrift/helmdrift/internal/output/monospace"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxRolloutLines is the number of workloads that have a line on the terminal.
const maxRolloutLines = 10

// RolloutProgress is a block of lines on a terminal, one for each workload that is waited for:
//
//	Deployment web  1 of 3 pods updated, 2 ready, 1 unavailable
//
// Each look writes the block over the one before. Without a terminal there should be none; the caller decides. Its methods may be called at
// the same time.
type RolloutProgress struct {
	w     io.Writer
	style style
	width int
	in    scope

	mu sync.Mutex
	// block is what stands on the terminal, as whole lines.
	block []string
}

// NewRolloutProgress returns a block on w, laid out as the options say. Namespace and versions are those of the release.
func NewRolloutProgress(w io.Writer, opts Options, namespace string, versions report.CustomVersions) *RolloutProgress {
	return &RolloutProgress{w: w, style: newStyle(opts), width: opts.Width, in: scope{namespace, versions}}
}

// Update shows how far objects are. Objects without pods have a line only while they are not ready.
func (p *RolloutProgress) Update(outcomes []report.FixOutcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var names, said []string
	widest := 0
	for _, o := range outcomes {
		if o.Rollout.PodCounts == nil && o.IsUp() {
			continue
		}
		name := p.style.keyName(o.Object, p.in)
		names, said = append(names, name), append(said, p.style.rolloutClause(*o.Rollout))
		widest = max(widest, monospace.Width(name))
	}
	var lines []string
	for i, name := range names {
		if len(lines) == maxRolloutLines {
			lines = append(lines, fmt.Sprintf("and %d more", len(names)-i))
			break
		}
		lines = append(lines, monospace.Pad(name, widest)+"  "+said[i])
	}
	p.replace(lines, nil)
}

// Write writes a message where the block stood, and the block again below it. Each message is whole lines.
func (p *RolloutProgress) Write(message []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replace(p.block, message)
	return len(message), nil
}

// Done takes the block away.
func (p *RolloutProgress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replace(nil, nil)
}

// replace writes a message and a block over the block that stands there. It moves the cursor to the begin of that block and erases what
// is below (ECMA-48 CUU and ED).
func (p *RolloutProgress) replace(lines []string, message []byte) {
	var b bytes.Buffer
	if len(p.block) > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\x1b[J", len(p.block))
	}
	b.Write(message)
	p.block = lines
	for _, line := range lines {
		if p.width > 0 {
			line = monospace.KeepStart(line, p.width-1, "")
		}
		b.WriteString(line + "\n")
	}
	_, _ = p.w.Write(b.Bytes()) // nobody waits for a progress line, so a failed write is no error
}

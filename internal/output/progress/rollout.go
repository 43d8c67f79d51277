package progress

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/monospace"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxRolloutLines is the number of workloads that have a line on the terminal.
const maxRolloutLines = 10

// Rollout is a block of lines on a terminal, one for each workload that a fix waits for:
//
//	Deployment web  1 of 3 pods updated, 2 ready, 1 unavailable
//
// Each update writes the block over the one before. Callers should not make one without a terminal. Its methods may be called at the same
// time.
type Rollout struct {
	w     io.Writer
	style layout.Style
	width int
	in    layout.Scope

	mu sync.Mutex
	// block is what stands on the terminal, as whole lines.
	block []string
}

// NewRollout returns a block on w, laid out as the options say. Namespace and versions belong to the release.
func NewRollout(w io.Writer, opts layout.Options, namespace string, versions report.CustomVersions) *Rollout {
	return &Rollout{w: w, style: layout.NewStyle(opts), width: opts.Width, in: layout.Scope{Namespace: namespace, Versions: versions}}
}

// Update shows how far objects are. Objects without pods have a line only while they are not ready.
func (p *Rollout) Update(outcomes []report.FixOutcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var names, said []string
	widest := 0
	for _, o := range outcomes {
		if o.Rollout.PodCounts == nil && o.IsUp() {
			continue
		}
		name := p.style.KeyName(o.Object, p.in)
		names, said = append(names, name), append(said, p.style.RolloutClause(*o.Rollout))
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
func (p *Rollout) Write(message []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replace(p.block, message)
	return len(message), nil
}

// Done takes the block away.
func (p *Rollout) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replace(nil, nil)
}

// replace writes a message and a block over the current block. It moves the cursor to the beginning of the current block and erases
// what is below (ECMA-48 CUU and ED).
func (p *Rollout) replace(lines []string, message []byte) {
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

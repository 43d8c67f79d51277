package text

import (
	"io"
	"sync"
	"time"

	"github.com/helmdrift/helmdrift/internal/output/monospace"
)

// activityAfter is how long a command runs before it says what it does. Most are over by then.
const activityAfter = time.Second

// statusLine is a line on a terminal that is written over itself.
type statusLine struct {
	w     io.Writer
	width int
	// shown is the width of what stands on the terminal.
	shown int
}

// show writes a line over the one that stands there. What is left of the old one is overwritten with blanks, which every terminal
// understands. The last column stays free, because some terminals go on to the next line after it.
func (l *statusLine) show(line string) {
	if l.width > 0 {
		line = monospace.KeepStart(line, l.width-1, "")
	}
	width := monospace.Width(line)
	if width == 0 && l.shown == 0 {
		return
	}
	text := "\r" + monospace.Pad(line, l.shown)
	if l.shown > width {
		text += "\r" + line // so that the cursor stands behind the line
	}
	l.shown = width
	_, _ = io.WriteString(l.w, text) // nobody waits for a progress line, so a failed write is no error
}

// Activity is a line on a terminal that says what a command is doing: "reading 42 objects". It appears when the command has run for a
// second, and Stop removes it. Without a terminal there should be none; the caller decides. A nil Activity shows nothing. Its methods may be
// called at the same time.
type Activity struct {
	statusLine

	mu    sync.Mutex
	doing string
	timer *time.Timer
	// visible is set once the line may be shown.
	visible bool
}

// NewActivity returns a line on w, laid out as the options say.
func NewActivity(w io.Writer, opts Options) *Activity {
	return &Activity{statusLine: statusLine{w: w, width: opts.Width}}
}

// Say says what the command is doing now, in words of this program. The first call starts the second that passes before the line appears.
func (a *Activity) Say(doing string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.doing = doing; a.visible {
		a.show(doing)
	}
	if a.timer == nil {
		a.timer = time.AfterFunc(activityAfter, a.appear)
	}
}

// appear shows the line, unless it was stopped.
func (a *Activity) appear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.visible = a.timer != nil; a.visible {
		a.show(a.doing)
	}
}

// Stop removes the line. A later Say starts again.
func (a *Activity) Stop() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil {
		a.timer.Stop()
	}
	a.timer, a.visible = nil, false
	a.show("")
}

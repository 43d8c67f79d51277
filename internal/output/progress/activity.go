package progress

import (
	"io"
	"sync"
	"time"

	"github.com/helmdrift/helmdrift/internal/output/layout"
)

// activityAfter is how long a command runs before it says what it does. Most are over by then.
const activityAfter = time.Second

// Activity is a line on a terminal that says what a command is doing: "reading 42 objects". It appears when the command has run for a
// second, and Stop removes it. Callers should not make one without a terminal. A nil Activity shows nothing. Its methods may be called at
// the same time.
type Activity struct {
	statusLine

	mu    sync.Mutex
	doing string
	timer *time.Timer
	// visible is set once the line may be shown.
	visible bool
}

// NewActivity returns a line on w, laid out as the options say.
func NewActivity(w io.Writer, opts layout.Options) *Activity {
	return &Activity{statusLine: statusLine{w: w, width: opts.Width}}
}

// Say sets what the command is doing now, in words of this program. The line appears one second after the first call. An empty text is
// the same as Stop.
func (a *Activity) Say(doing string) {
	if doing == "" {
		a.Stop()
		return
	}
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

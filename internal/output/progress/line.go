package progress

import (
	"io"

	"github.com/helmdrift/helmdrift/internal/output/monospace"
)

// statusLine is a line on a terminal that is written over itself.
type statusLine struct {
	w     io.Writer
	width int
	// shown is the width of what stands on the terminal.
	shown int
}

// show writes a line over the current one. It overwrites the rest of the old line with blanks, which every terminal understands.
// The last column stays free, because some terminals go on to the next line after it.
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

package program

import (
	"bytes"
	"time"
)

// outputDelay is how long to wait for the output of a program after it was killed: a child of its own may hold the pipe open.
const outputDelay = time.Second

// head is a buffer that keeps the beginning of what is written to it and discards the rest, so that the writer is never blocked.
type head struct {
	// text is not embedded, because io.Copy would use its ReadFrom, which has no limit.
	text      bytes.Buffer
	limit     int64
	truncated bool
	// full is called when something does not fit; may be nil.
	full func()
}

// Write keeps what fits. It never fails.
func (h *head) Write(text []byte) (int, error) {
	keep := text
	if left := h.limit - int64(h.text.Len()); h.limit > 0 && int64(len(text)) > left {
		keep, h.truncated = text[:left], true
		if h.full != nil {
			h.full()
		}
	}
	h.text.Write(keep)
	return len(text), nil
}

package text

import (
	"time"

	"github.com/helmdrift/helmdrift/internal/output/layout"
)

// Options say how text is laid out.
type Options = layout.Options

// text is the lines of one report or fix.
type text struct {
	*layout.Text
	// begins are the places where objects and findings begin, in the order of the text.
	begins []begin
}

// begin is the offset of the first line of an object or of a finding.
type begin struct {
	at        int
	isFinding bool
}

// newText returns an empty text. Made is the time of the report.
func newText(o Options, made time.Time) *text { return &text{Text: layout.New(o, made)} }

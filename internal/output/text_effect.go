package output

import "github.com/helmdrift/helmdrift/pkg/report"

// effect writes what the write of an object means for pods and data.
func (t *text) effect(e *report.Effect) {
	if e == nil {
		return
	}
	t.continuation("  ", "effect: "+t.message(e.Text))
	for _, note := range e.Notes {
		t.continuation("  ", t.message(note))
	}
}

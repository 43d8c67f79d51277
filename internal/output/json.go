package output

import (
	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// writeJSON returns the Report itself. Integers stay integers, and strings decode to exactly the value that was read.
// (Values come from the API server's own JSON and so are valid UTF-8; JSON could not carry anything else.)
func writeJSON(r *report.Report, _ Options) ([]byte, error) { return escape.Encode(r, "  ") }

// writeFixJSON returns the FixResult itself.
func writeFixJSON(r *report.FixResult, _ Options) ([]byte, error) { return escape.Encode(r, "  ") }

// writeListJSON returns the ReleaseList itself.
func writeListJSON(l *report.ReleaseList, _ Options) ([]byte, error) { return escape.Encode(l, "  ") }

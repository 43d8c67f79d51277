package output

import (
	"bytes"
	"encoding/json"

	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// writeJSON returns the Report itself. Integers stay integers, and strings decode to exactly the value that was read.
// (Values come from the API server's own JSON and so are valid UTF-8; JSON could not carry anything else.)
func writeJSON(r *report.Report, _ Options) ([]byte, error) { return encodeJSON(r, "  ") }

// writeFixJSON returns the FixResult itself.
func writeFixJSON(r *report.FixResult, _ Options) ([]byte, error) { return encodeJSON(r, "  ") }

// writeListJSON returns the ReleaseList itself.
func writeListJSON(l *report.ReleaseList, _ Options) ([]byte, error) { return encodeJSON(l, "  ") }

// encodeJSON encodes v with a newline at the end and nothing in it that a terminal or a CI agent obeys.
// HTML escaping is off: it is for web pages, and makes "->" and "&&" in command lines unreadable.
func encodeJSON(v any, indent string) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return []byte(escape.JSON(buf.String())), nil
}

package output

import (
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/output/html"
	"github.com/helmdrift/helmdrift/internal/output/text/history"
	"github.com/helmdrift/helmdrift/pkg/report/past"
)

// HistoryFormats returns the names of the formats that a history has.
func HistoryFormats() []string {
	return []string{string(Text), string(JSON), string(YAML), string(HTML)}
}

// HistoryDocument returns a history in format f.
func HistoryDocument(f Format, h *past.History, opts Options) ([]byte, error) {
	switch f {
	case Text:
		return history.Text(h, opts.Text), nil
	case JSON:
		return escape.Encode(h, "  ")
	case YAML:
		return encodeYAML(h)
	case HTML:
		return html.History(h)
	}
	return nil, fmt.Errorf("a history has the formats %s", strings.Join(HistoryFormats(), ", "))
}

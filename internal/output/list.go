package output

import (
	"io"

	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/pkg/report/listing"
)

// WriteList writes the list of releases to w in format f, which is one of FixFormats.
func WriteList(w io.Writer, f Format, l *listing.List, opts Options) error {
	return write(w, f, func(format) ([]byte, error) {
		switch f {
		case Text:
			return text.List(l, opts.Text), nil
		case JSON:
			return writeJSON(l, opts)
		case YAML:
			return writeYAML(l, opts)
		}
		return nil, errReportOnly
	})
}

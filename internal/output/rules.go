package output

import (
	"bytes"
	"fmt"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// writeRules returns the rules that silence a report, as the configuration takes them. Adding them there accepts what the report says.
func writeRules(r *report.Report, _ Options) ([]byte, error) {
	doc, err := encodeYAML(map[string]any{"ignore": r.Rules()})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if n := r.Summary.Errors; n > 0 {
		fmt.Fprintf(&out, "# Incomplete: the report counts errors: %d.\n", n)
	}
	out.Write(doc)
	return out.Bytes(), nil
}

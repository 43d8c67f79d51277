package output

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// writeRules gives the rules that silence what a report says, as the configuration takes them: who puts them there accepts what is.
func writeRules(r *report.Report, _ Options) ([]byte, error) {
	doc, err := encodeYAML(map[string]any{"ignore": r.Rules()})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if n := r.Summary.Errors; n > 0 {
		fmt.Fprintf(&out, "# Incomplete: the report has %s.\n", plural(n, "error"))
	}
	out.Write(doc)
	return out.Bytes(), nil
}

// writeFixRules refuses: what a fix did is nothing to be ignored.
func writeFixRules(*report.FixResult, Options) ([]byte, error) {
	return nil, errors.New("the rules that would silence a report are an answer of diff")
}

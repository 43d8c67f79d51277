package main

import (
	"fmt"
	"os"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file reads the report that a comparison is measured against, so that a team can start with drift that it knows and see only what is
// new. pkg/report decides what is new; see report.Release.Accept.

// readBaseline reads the report that --baseline names, as JSON or YAML; nil if path is empty. diff wrote that report earlier, and what it
// holds counts as known. A file that is no report is an error: an empty report would know nothing, and every finding would count.
func readBaseline(path string) (*report.Report, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w", err)
	}
	known, err := report.Read(text)
	if err != nil {
		return nil, hinted{error: fmt.Errorf("--baseline %s is not a report: %w", path, err), hint: "helmdrift diff RELEASE -o json > " + path + " makes one"}
	}
	return known, nil
}

package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// readBaseline reads a report that diff wrote before, as JSON or YAML; nil where none is named.
func readBaseline(path string) (*report.Report, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w", err)
	}
	var out report.Report
	if err := yaml.Unmarshal(text, &out); err != nil || out.APIVersion != report.APIVersion || out.Kind != report.KindReport {
		return nil, hinted{error: fmt.Errorf("--baseline %s: it is no report of %s", path, report.APIVersion),
			hint: "helmdrift diff RELEASE -o json > " + path + " makes one"}
	}
	return &out, nil
}

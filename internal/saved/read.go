package saved

import (
	"errors"
	"fmt"
	"io"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// longest bounds a report. That of a fleet of ten thousand releases is a tenth as long.
const longest = 256 << 20

// Read reads a report from a file, or from standard input if the name is -.
func Read(name string, stdin io.Reader) (*report.Report, error) {
	text, err := contentOf(name, stdin)
	if err != nil {
		return nil, err
	}
	r, err := report.Read(text)
	if err != nil {
		return nil, notAReport(name, err)
	}
	return r, nil
}

// contentOf returns the content of a regular file or of standard input.
func contentOf(name string, stdin io.Reader) ([]byte, error) {
	if name == "-" {
		return files.ReadAll("standard input", stdin, longest)
	}
	text, err := files.Read(name, longest)
	if errors.Is(err, files.ErrNotRegular) {
		return nil, hint.New(err, "give the name of a file; for helmdrift report, - is standard input")
	}
	return text, err
}

// notAReport returns the error that a file is not a report.
func notAReport(name string, err error) error {
	return hint.New(fmt.Errorf("%s is not a report: %w", name, err), "helmdrift diff -o json > FILE writes one")
}

// Baseline reads the report that --baseline names, as JSON or YAML; nil if path is empty. diff wrote that report earlier, and what it holds
// counts as known: a team can start with drift that it knows and see only what is new (report.Release.Accept). A file that is no report is
// an error: an empty report would know nothing, and every finding would count.
func Baseline(path string) (*report.Report, error) {
	if path == "" {
		return nil, nil
	}
	text, err := files.Read(path, longest)
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w", err)
	}
	known, err := report.Read(text)
	if err != nil {
		return nil, hint.New(fmt.Errorf("--baseline %s is not a report: %w", path, err), "helmdrift diff RELEASE -o json > "+hint.ShellWord(path)+" makes one")
	}
	return known, nil
}

// Package reading decodes reports that were saved as JSON or YAML.
package reading

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	yaml2 "go.yaml.in/yaml/v2"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// Report decodes a report that was saved as JSON or YAML. It accepts every report of [report.APIVersion], also one with keys that it
// does not know: within a version keys are only added. What is not part of the contract is empty in the result. Text may come from anybody;
// its length is the caller's to bound. The error is about the text ("it has no apiVersion"), so the caller says which file it is of.
func Report(text []byte) (*report.Report, error) {
	doc, err := asJSON(text)
	if err != nil {
		return nil, err
	}
	if _, err := headOf(doc); err != nil {
		return nil, err
	}
	var out report.Report
	if err := json.Unmarshal(doc, &out); err != nil {
		return nil, fmt.Errorf("it does not have the form of a report: %w", err)
	}
	return &out, nil
}

// IsOtherKind reports whether an error of [Report] or [Time] means that a document of helmdrift is not a report, such as the result
// of a fix.
func IsOtherKind(err error) bool {
	var other otherKind
	return errors.As(err, &other)
}

// otherKind is the kind of a document of helmdrift that is not a report.
type otherKind string

// Error says what the document is.
func (k otherKind) Error() string {
	return fmt.Sprintf("it is a %s %s, not a %s %s", report.APIVersion, string(k), report.APIVersion, report.KindReport)
}

// Time returns the time of a report that was saved as JSON or YAML, and decodes nothing else. A report without a time is an error.
func Time(text []byte) (time.Time, error) {
	doc, err := asJSON(text)
	if err != nil {
		return time.Time{}, err
	}
	head, err := headOf(doc)
	if err == nil && head.Time.IsZero() {
		err = errors.New("it has no time")
	}
	return head.Time, err
}

// asJSON returns the only document of a text in JSON or YAML as JSON. Of two reports in one text, one would hide what the other has found.
func asJSON(text []byte) ([]byte, error) {
	if json.Valid(text) {
		return text, nil
	}
	doc, err := yaml.YAMLToJSONStrict(text)
	d, twice := yaml2.NewDecoder(bytes.NewReader(text)), new(yaml2.TypeError) // the library that yaml.YAMLToJSONStrict calls
	switch _ = d.Decode(&struct{}{}); {
	case err != nil && !errors.As(err, &twice):
		return nil, fmt.Errorf("it is neither JSON nor YAML: %w", err)
	case err != nil || !errors.Is(d.Decode(&struct{}{}), io.EOF):
		return nil, errors.New("it has a second document, or a key twice; each report needs a file of its own")
	}
	return doc, nil
}

// head is the beginning of a document.
type head struct {
	APIVersion, Kind string
	Time             time.Time
}

// headOf returns the head of a report, or an error if the document is not a report.
func headOf(doc []byte) (head, error) {
	var out head
	others := []string{report.KindFixResult, report.KindReleaseList, report.KindHistory, report.KindAbsorbResult}
	switch err := json.Unmarshal(doc, &out); {
	case err != nil && out.APIVersion != "":
		return out, fmt.Errorf("it does not have the form of a report: %w", err)
	case err != nil || out.APIVersion == "":
		return out, errors.New("it has no apiVersion")
	case out.APIVersion != report.APIVersion && strings.HasPrefix(out.APIVersion, "helmdrift.io/"):
		return out, fmt.Errorf("its apiVersion is %.40s, and this helmdrift reads %s; a newer helmdrift may have written it",
			out.APIVersion, report.APIVersion)
	case out.APIVersion == report.APIVersion && slices.Contains(others, out.Kind):
		return out, otherKind(out.Kind)
	case out.APIVersion != report.APIVersion || out.Kind != report.KindReport:
		return out, fmt.Errorf("it is a %.40s %.40s, not a %s %s", out.APIVersion, out.Kind, report.APIVersion, report.KindReport)
	}
	return out, nil
}

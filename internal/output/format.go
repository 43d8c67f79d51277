package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/output/ci"
	"github.com/helmdrift/helmdrift/internal/output/html"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/internal/output/timeline"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Options say how a document is laid out, and what it says beside the report. JSON, YAML and metrics have no options, because programs get
// the same bytes everywhere.
type Options struct {
	Text text.Options
	CI   ci.Options
}

// Format names an output format. It is a flag value (pflag.Value), so an unknown name is refused while flags are parsed.
type Format string

// These are the formats.
const (
	Text Format = "text"
	JSON Format = "json"
	YAML Format = "yaml"
	// Diff writes the patches of the manifests. Only a Report whose releases have a Patch has this format.
	Diff Format = "diff"
	// Markdown, JUnit, SARIF, GitLab and GitHub are what tools show about a pipeline; see package ci. Only a Report has these formats.
	Markdown Format = "markdown"
	JUnit    Format = "junit"
	SARIF    Format = "sarif"
	GitLab   Format = "gitlab"
	GitHub   Format = "github"
	// HTML writes a report as a page for a browser. Only a Report has this format.
	HTML Format = "html"
	// Rules writes the rules that would silence a report. Only a Report has this format.
	Rules Format = "ignore"
	// Prometheus writes the counts of a report as metrics. Only a Report has this format.
	Prometheus Format = "prometheus"
)

// formats returns the table of all formats. A new format is a new file and a line here.
func formats() []format {
	return []format{
		{Text, writeText, func(r *report.FixResult, o Options) ([]byte, error) { return text.FixResult(r, o.Text), nil }},
		{JSON, writeJSON[*report.Report], writeJSON[*report.FixResult]},
		{YAML, writeYAML[*report.Report], writeYAML[*report.FixResult]},
		{name: Diff, write: writeDiff},
		{name: Markdown, write: forCI(ci.Markdown)},
		{name: JUnit, write: forCI(ci.JUnit)},
		{name: SARIF, write: forCI(ci.SARIF)},
		{name: GitLab, write: forCI(ci.GitLab)},
		{name: GitHub, write: forCI(ci.GitHub)},
		{name: HTML, write: writeHTML},
		{name: Prometheus, write: writePrometheus},
		{name: Rules, write: writeRules},
	}
}

// format is a name and its writers. A writer returns the whole document, so a failure never leaves half of one. Formats of a report alone
// lack the writer of the result of a fix.
type format struct {
	name  Format
	write func(*report.Report, Options) ([]byte, error)
	fix   func(*report.FixResult, Options) ([]byte, error)
}

// writeText returns a report as text, by release or by time.
func writeText(r *report.Report, o Options) ([]byte, error) {
	if o.Text.Timeline {
		return timeline.Text(r, o.Text), nil
	}
	return text.Report(r, o.Text), nil
}

// writeHTML returns a report as one page for a browser, in the words of the text format.
func writeHTML(r *report.Report, o Options) ([]byte, error) {
	return html.Document(r, o.Text.Fix)
}

// forCI returns the writer of a format of package ci.
func forCI(write func(*report.Report, ci.Options) ([]byte, error)) func(*report.Report, Options) ([]byte, error) {
	return func(r *report.Report, o Options) ([]byte, error) {
		return write(r, o.CI)
	}
}

// Write writes the report to w in format f.
func Write(w io.Writer, f Format, r *report.Report, opts Options) error {
	return write(w, f, func(e format) ([]byte, error) { return e.write(r, opts) })
}

// WriteFixPlan writes to w, as text, what a fix is about to do.
func WriteFixPlan(w io.Writer, r *report.FixResult, opts Options) error {
	return send(w, text.FixPlan(r, opts.Text))
}

// WriteFixQuestion writes to w the question that a reader answers before anything is written.
func WriteFixQuestion(w io.Writer, r *report.FixResult, opts Options) error {
	return send(w, text.FixQuestion(r, opts.Text))
}

// WriteFixPick writes to w the question for one part of a plan.
func WriteFixPick(w io.Writer, r *report.FixResult, part report.FixPlan, opts Options) error {
	return send(w, text.FixPick(r, part, opts.Text))
}

// Document returns the report in format f.
func Document(f Format, r *report.Report, opts Options) ([]byte, error) {
	var b bytes.Buffer
	err := Write(&b, f, r, opts)
	return b.Bytes(), err
}

// WriteFix writes the result of a fix to w in format f. The text is what became of the plan; the reader has seen the plan itself by then,
// because WriteFixPlan writes it.
func WriteFix(w io.Writer, f Format, r *report.FixResult, opts Options) error {
	return write(w, f, func(e format) ([]byte, error) {
		if e.fix == nil {
			return nil, errReportOnly
		}
		return e.fix(r, opts)
	})
}

// errReportOnly refuses the result of a fix and a list of releases in a format that only a report has.
var errReportOnly = errors.New("only a report has this format")

// write finds a format, lets it make the document, and writes it. Nothing is written if the document cannot be made.
func write(w io.Writer, f Format, document func(format) ([]byte, error)) error {
	entry, err := find(f)
	if err != nil {
		return err
	}
	doc, err := document(entry)
	if err != nil {
		return fmt.Errorf("format as %s: %w", f, err)
	}
	return send(w, doc)
}

// Formats returns the names of all formats, for help texts and completion.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, string(f.name))
	}
	return names
}

// SavedFormats returns the names of the formats that a saved report can have: it lacks the manifest, which a diff needs.
func SavedFormats() []string {
	return slices.DeleteFunc(Formats(), func(name string) bool { return name == string(Diff) })
}

// FixFormats returns the names of the formats that the result of a fix and a list of releases have.
func FixFormats() []string {
	var names []string
	for _, f := range formats() {
		if f.fix != nil {
			names = append(names, string(f.name))
		}
	}
	return names
}

// String returns the name of the format.
func (f *Format) String() string { return string(*f) }

// Type returns the word that stands for the value in help texts.
func (f *Format) Type() string { return "format" }

// Set accepts the name of a format and refuses any other word.
func (f *Format) Set(s string) error {
	entry, err := find(Format(s))
	if err != nil {
		return err
	}
	*f = entry.name
	return nil
}

// find looks up a format by its exact name. Abbreviations are refused: users would rely on them, and a new format could make one ambiguous.
func find(f Format) (format, error) {
	all := formats()
	i := slices.IndexFunc(all, func(e format) bool { return e.name == f })
	if i < 0 {
		return format{}, fmt.Errorf("unknown format %q: want %s", string(f), strings.Join(Formats(), ", "))
	}
	return all[i], nil
}

// send writes a whole document to w.
func send(w io.Writer, doc []byte) error {
	if _, err := w.Write(doc); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

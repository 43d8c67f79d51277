package output

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// Format names an output format. It is a flag value (pflag.Value) that refuses unknown names while flags are parsed.
type Format string

// The formats.
const (
	Text Format = "text"
	JSON Format = "json"
	YAML Format = "yaml"
	// Rules is for reports only.
	Rules Format = "ignore"
)

// Options are the ways in which a reader's terminal matters. JSON and YAML ignore them: programs get the same bytes everywhere.
type Options struct {
	// Color allows colour. The caller has looked at flags, environment and terminal; nobody here asks again.
	Color bool
	// Unicode allows signs and values beyond ASCII.
	Unicode bool
	// Width is the number of columns of the terminal; 0 where there is none, and then nothing is shortened.
	Width int
	// Now is what ages are counted from; the zero value means the time of the report, which makes re-rendering repeatable.
	Now time.Time
	// Fix is the command line that puts back what drifted, and Plan what it would write; both are empty where there is nothing.
	Fix  string
	Plan []report.FixPlan
	// ShowIgnored lists what rules silence, which is only counted otherwise.
	ShowIgnored bool
}

// formats is the table of all formats. A new format is a new file and a line here.
func formats() []format {
	return []format{
		{Text, writeText, writeFixText},
		{JSON, writeJSON, writeFixJSON},
		{YAML, writeYAML, writeFixYAML},
		{Rules, writeRules, writeFixRules},
	}
}

// format joins a name to its writers. A writer returns the whole document, so that a failure never leaves half of one.
type format struct {
	name  Format
	write func(*report.Report, Options) ([]byte, error)
	fix   func(*report.FixResult, Options) ([]byte, error)
}

// Write writes the report to w in format f.
func Write(w io.Writer, f Format, r *report.Report, opts Options) error {
	entry, err := find(f)
	if err != nil {
		return err
	}
	doc, err := entry.write(r, opts)
	if err != nil {
		return fmt.Errorf("format report as %s: %w", f, err)
	}
	return send(w, doc)
}

// WriteFix writes the result of a fix to w in format f. As text that is what became of the plan, which a reader has seen by
// then: WriteFixPlan writes it.
func WriteFix(w io.Writer, f Format, r *report.FixResult, opts Options) error {
	entry, err := find(f)
	if err != nil {
		return err
	}
	doc, err := entry.fix(r, opts)
	if err != nil {
		return fmt.Errorf("format the result as %s: %w", f, err)
	}
	return send(w, doc)
}

func send(w io.Writer, doc []byte) error {
	if _, err := w.Write(doc); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// Formats returns the names of all formats, for help texts and completion.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, string(f.name))
	}
	return names
}

// FixFormats returns those that the result of a fix has.
func FixFormats() []string {
	return slices.DeleteFunc(Formats(), func(name string) bool { return name == string(Rules) })
}

// String returns the name, as pflag.Value wants it.
func (f *Format) String() string { return string(*f) }

// Type returns the word that stands for the value in help texts.
func (f *Format) Type() string { return "format" }

// Set takes the name of a format and refuses any other word.
func (f *Format) Set(s string) error {
	entry, err := find(Format(s))
	if err != nil {
		return err
	}
	*f = entry.name
	return nil
}

// find looks a format up by its exact name; abbreviations would be promises.
func find(f Format) (format, error) {
	all := formats()
	i := slices.IndexFunc(all, func(e format) bool { return e.name == f })
	if i < 0 {
		return format{}, fmt.Errorf("unknown format %q: want %s", string(f), strings.Join(Formats(), ", "))
	}
	return all[i], nil
}

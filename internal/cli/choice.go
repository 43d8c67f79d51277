package cli

import (
	"sync"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/choose"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// This file holds --only and --skip, which diff, fix and absorb share.

// ChoiceFlags are the values of the flags.
type ChoiceFlags struct{ only, skip []string }

// AddFlags adds the flags. The verb says what the command does with what they choose.
func (f *ChoiceFlags) AddFlags(fs *pflag.FlagSet, verb string) {
	fs.StringArrayVar(&f.only, "only", nil,
		verb+" only this `object or path`, such as deploy/web, spec.replicas or deploy/web:spec.replicas; may be repeated")
	fs.StringArrayVar(&f.skip, "skip", nil, verb+" everything but this `object or path`; may be repeated")
}

// ChoiceNames returns the names of the flags.
func ChoiceNames() []string { return []string{"only", "skip"} }

// Choice reads the values.
func (f *ChoiceFlags) Choice() (choose.Choice, error) { return choose.Parse(f.only, f.skip) }

// LeftOut returns the reason for what the flags leave out of a repair. A report of diff has the same words.
func (f *ChoiceFlags) LeftOut() string {
	switch {
	case len(f.skip) == 0:
		return "left out by --only"
	case len(f.only) == 0:
		return "left out by --skip"
	}
	return "left out by --only or --skip"
}

// Selectors returns what is chosen in the form that a repair takes.
func Selectors(found choose.Chosen) (only, skip []repair.Selector) {
	return selectors(found.Only()), selectors(found.Skip())
}

// selectors returns the selectors of places.
func selectors(places []choose.Place) (out []repair.Selector) {
	for _, p := range places {
		out = append(out, repair.Selector{Key: p.Key, Path: p.Path, ByPath: !p.Named})
	}
	return out
}

// Chooser leaves out of reports what the flags do not choose. A scan compares releases at the same time.
type Chooser struct {
	choose.Choice
	// Print prints a message on stderr.
	Print func(prefix, message string)
	mu    sync.Mutex
	// idle holds the values that name nothing in any release so far. It is nil before the first one.
	idle map[string]choose.Idle
}

// LeaveOut marks what the flags leave out of a report.
func (c *Chooser) LeaveOut(r *report.Release, of *threeway.Comparison) {
	if !c.Choice.IsSet() {
		return
	}
	found := c.Choice.In(of)
	found.Report(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	idle := map[string]choose.Idle{}
	for _, i := range found.Idle() {
		if _, before := c.idle[i.Text]; before || c.idle == nil {
			idle[i.Text] = i
		}
	}
	c.idle = idle
}

// Complain adds to the report which values name nothing. For --skip that is a warning, since what it was to leave out counts. For --only it
// is an error: it leaves out what it was to choose, and that must not pass as clean. A part of a selection only has the values, since other
// parts may have what they name.
func (c *Chooser) Complain(r *report.Report) {
	for _, text := range object.SortedKeys(c.idle) {
		i := c.idle[text]
		message := i.Err.Error()
		switch {
		case len(r.Releases) == 0:
		case r.Scan != nil && r.Scan.Shard != nil:
			r.Scan.Idle = append(r.Scan.Idle, text)
			continue
		case !i.Only && r.Scan != nil:
			c.Print("warning: ", text+report.NoMatch)
		case !i.Only:
			first := &r.Releases[0]
			first.Warnings = append(first.Warnings, report.Message{Code: report.ErrorSelection, Message: message})
		case r.Scan == nil:
			first := &r.Releases[0]
			first.Errors = append(first.Errors, report.Message{Code: report.ErrorSelection, Message: hint.Sentence(i.Err)})
		default:
			r.Errors = append(r.Errors, report.ScanError{Code: report.ErrorSelection, Message: text + report.NoMatch})
		}
		if i.Only && len(r.Releases) > 0 {
			r.Summary.Errors++
		}
	}
}

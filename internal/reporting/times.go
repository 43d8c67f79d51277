package reporting

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/choose"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file holds the flags about when something was written, for somebody who looks for the cause of an incident: --since and --timeline
// of diff and report.

// TimeOptions are these flags.
type TimeOptions struct {
	since    since
	timeline bool
}

// AddFlags adds the flags.
func (o *TimeOptions) AddFlags(fs *pflag.FlagSet) {
	fs.Var(&o.since, "since",
		"count only what was last written since this `time`: a duration before the report, such as 1h, or an RFC 3339 time")
	fs.BoolVar(&o.timeline, "timeline", false, "list the findings of all releases by time, the newest first")
}

// Check refuses formats that the flags have no effect on.
func (o *TimeOptions) Check(p *PrintOptions) error {
	switch {
	case o.timeline && p.Format != output.Text:
		return hint.New(fmt.Errorf("--timeline is text, not %s", p.Format), "in JSON each field has its owners, each with a time")
	case o.HasSince() && p.Writes(output.Diff):
		return errors.New("--since cannot be used with -o diff")
	}
	return nil
}

// Choose leaves out of a report what was written earlier, and returns how the report looks. A duration counts from when a release was
// compared: the parts of a merged report may be of different times.
func (o *TimeOptions) Choose(r *report.Report, compared func(report.Release) time.Time, look output.Options) output.Options {
	if o.HasSince() {
		choose.Since(r, func(one report.Release) time.Time {
			if o.since.at.IsZero() {
				return compared(one).Add(-o.since.ago)
			}
			return o.since.at
		})
	}
	look.Text.Timeline = o.timeline
	return look
}

// HasSince reports whether --since is set.
func (o *TimeOptions) HasSince() bool { return o.since != (since{}) }

// since is the value of --since: a time, or a duration before another one.
type since struct {
	text string
	at   time.Time
	ago  time.Duration
}

// String returns the value as it was given.
func (s *since) String() string { return s.text }

// Type returns the placeholder in help texts.
func (s *since) Type() string { return "time" }

// Set reads a time or a duration.
func (s *since) Set(text string) error {
	at, err := time.Parse(time.RFC3339, text)
	if err == nil {
		*s = since{text: text, at: at}
		return nil
	}
	ago, err := time.ParseDuration(text)
	if err != nil || ago <= 0 {
		return errors.New("must be a duration, such as 30m or 1h, or a time, such as 2026-11-27T10:00:00Z")
	}
	*s = since{text: text, ago: ago}
	return nil
}

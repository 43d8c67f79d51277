// Package history writes a history of findings as text, and has its words for a page. Its cases are files that TestHistoryGolden of
// internal/output compares.
package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/monospace"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/past"
)

const (
	// maxSteps is how many steps of a flapping finding are listed, the latest ones.
	maxSteps = 5
	// maxValue is the width of a live value on a terminal.
	maxValue = 40
	// minute is how a history writes times, which are in UTC.
	minute = "2006-01-02 15:04"
)

// text is the lines of one history.
type text struct{ *layout.Text }

// Text returns what a history says: for each release the findings that are there or flap, and with Verbose also those that ended.
func Text(h *past.History, opts layout.Options) []byte {
	t := &text{layout.New(opts, h.Time)}
	var writers []func()
	hidden := 0
	for _, r := range h.Releases {
		shown := slices.DeleteFunc(slices.Clone(r.Findings), func(f past.Finding) bool {
			return !t.Verbose && f.State != past.There && !f.Flapping
		})
		hidden += len(r.Findings) - len(shown)
		if len(shown) > 0 || t.Verbose {
			writers = append(writers, func() { t.releaseHistory(r, shown) })
		}
	}
	t.Blocks(append(writers, func() { t.writeTotals(h, hidden) })...)
	return t.Out.Bytes()
}

// writeTotals writes the last lines: what was found, and in what.
func (t *text) writeTotals(h *past.History, hidden int) {
	for i, said := range Totals(h) {
		if i == 0 {
			t.Headline(said)
		} else {
			t.Prose(said)
		}
	}
	if hidden > 0 {
		t.Prose(fmt.Sprintf("%s that ended (see -v)", english.Count(hidden, "finding")))
	}
}

// Totals returns what was found, and in what, the most important first.
func Totals(h *past.History) []string {
	counts := map[past.State]int{}
	flapping := 0
	for _, r := range h.Releases {
		for _, f := range r.Findings {
			counts[f.State]++
			flapping += layout.OneIf(f.Flapping)
		}
	}
	out := []string{
		fmt.Sprintf("%s there, %d gone, %d ignored; %d flapping",
			english.Count(counts[past.There], "finding"), counts[past.Gone], counts[past.Ignored], flapping),
		fmt.Sprintf("%s on %s, %s to %s UTC", english.Count(h.Reports, "report"), english.Count(len(h.Releases), "release"),
			h.From.UTC().Format(minute), h.Time.UTC().Format(minute)),
	}
	if h.Previews > 0 {
		out = append(out, english.Count(h.Previews, "comparison")+" with a chart or another revision left out: they do not say what drifted")
	}
	return out
}

// releaseHistory writes the findings of one release.
func (t *text) releaseHistory(r past.Release, shown []past.Finding) {
	said := layout.Clauses{english.Count(r.Reports, "report")}
	said.AddIf(r.Unknown > 0, fmt.Sprintf("%d with an error, which may have missed something", r.Unknown))
	said.AddIf(len(shown) == 0, "nothing listed")
	t.Headline("release " + t.Release(r) + ": " + strings.Join(said, t.Dot))
	last := ""
	for _, f := range shown {
		if name := t.KeyName(f.Object, layout.Scope{Namespace: r.Namespace, Versions: r.Versions}); name != last {
			t.Indented("  ", name)
			last = name
		}
		t.findingHistory(f)
	}
}

// findingHistory writes one finding: its state, what it is about, how long it was there, its latest value and who owned it, and its steps
// if it flaps.
func (t *text) findingHistory(f past.Finding) {
	// The state comes first: the line of a log must not begin with a value, which a CI system may take for a command.
	said := layout.Clauses{t.Escape(string(f.State)) + ": " + t.place(f), layout.JoinNonEmpty(", ", length(f), period(f))}
	said.AddIf(!f.Drifted, "unmanaged")
	said.AddNonEmpty(t.latestValue(f), t.managerNames(f.Managers))
	t.Indented("    ", strings.Join(said, t.Dot))
	if f.Flapping {
		t.Indented("      ", t.flapping(f))
	}
}

// place returns what a finding is about: its path, or how its object is gone.
func (t *text) place(f past.Finding) string { return t.Escape(f.Path + string(f.Absence)) }

// length returns how long a finding was there; empty if only the latest report has it.
func length(f past.Finding) string {
	if f.Seconds == 0 {
		return ""
	}
	return layout.Span(time.Duration(f.Seconds) * time.Second)
}

// period returns when a finding was first there, and when it ended.
func period(f past.Finding) string {
	first := f.FirstSeen.UTC().Format(minute)
	if f.Ended != nil {
		return first + " to " + f.Ended.UTC().Format(minute)
	}
	return "since " + first
}

// flapping says how a finding flaps, who takes part in it, and its latest steps.
func (t *text) flapping(f past.Finding) string {
	said := "flaps: came " + times(f.Periods)
	if f.Changes > 0 {
		said += ", changed " + times(f.Changes)
	}
	if len(f.Managers) > 1 {
		said += "; " + layout.Enumerate(t.labels(f.Managers)) + " fight over it"
	}
	steps := f.Steps[max(0, len(f.Steps)-maxSteps):]
	var listed []string
	for _, step := range steps {
		one := step.Time.UTC().Format(minute) + " " + t.Escape(string(step.State))
		if step.State == past.There {
			one = layout.JoinNonEmpty(" ", step.Time.UTC().Format(minute), t.stepValue(step, f.Masked))
			if names := t.managerNames(step.Managers); names != "" {
				one += " by " + names
			}
		}
		listed = append(listed, one)
	}
	return said + ": " + strings.Join(listed, t.Dot)
}

// times counts occurrences.
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// latestValue returns the live value of a finding that is there.
func (t *text) latestValue(f past.Finding) string {
	if len(f.Steps) == 0 || f.State != past.There {
		return ""
	}
	return t.stepValue(f.Steps[len(f.Steps)-1], f.Masked)
}

// stepValue returns the live value of a step. It is not known for a field that live lacks, and for a large value.
func (t *text) stepValue(s past.Step, masked bool) string {
	switch {
	case masked:
		return t.Mask
	case s.Live == nil:
		return ""
	case t.Width > 0:
		return monospace.KeepStart(t.Value(s.Live), maxValue, t.Ellipsis)
	}
	return t.Value(s.Live)
}

// managerNames returns the names of field managers.
func (t *text) managerNames(names []string) string { return strings.Join(t.labels(names), ", ") }

func (t *text) labels(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = t.Label(name)
	}
	return out
}

// Phrases are the words of a history for a page, as the text has them. Each phrase is escaped and one line.
type Phrases struct{ *text }

// NewPhrases returns the words of a history.
func NewPhrases() Phrases {
	return Phrases{&text{layout.New(layout.Options{Unicode: true}, time.Time{})}}
}

// Release returns the name of a release, with what deploys it if that is known.
func (t *text) Release(r past.Release) string {
	name := t.ReleaseName(report.Release{Name: r.Name, Cluster: r.Cluster}, r.Namespace)
	if r.Deployer != "" {
		name += " (" + t.Escape(r.Deployer) + ")"
	}
	return name
}

// Finding are the words about a finding. Value, Managers and Flapping may be empty.
type Finding struct{ Object, Place, State, Length, Period, Value, Managers, Flapping string }

// Finding returns the words about a finding of a release.
func (p Phrases) Finding(f past.Finding, r past.Release) Finding {
	out := Finding{
		Object: p.KeyName(f.Object, layout.Scope{Namespace: r.Namespace, Versions: r.Versions}), Place: p.place(f),
		State: p.Escape(string(f.State)), Length: length(f), Period: period(f), Value: p.latestValue(f), Managers: p.managerNames(f.Managers),
	}
	if f.Flapping {
		out.Flapping = p.flapping(f)
	}
	return out
}

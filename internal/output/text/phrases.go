package text

import (
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/output/html"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Phrases are the words of the text format for the page of a browser.
type Phrases struct{ *text }

var _ html.Phrases = Phrases{}

// NewPhrases returns the words about a report.
func NewPhrases(r *report.Report) Phrases { return Phrases{newText(Options{Unicode: true}, r.Time)} }

// Escape returns a text as it may stand within a line.
func (p Phrases) Escape(text string) string { return escape.Text(text, false) }

// Value returns a value on one line.
func (p Phrases) Value(value any) string { return p.value(value) }

// Message returns a warning or an error.
func (p Phrases) Message(m report.Message) string { return p.messageOf(m) }

// Answer returns what the report says as a whole: the last lines of the text, apart from what could not be seen.
func (p Phrases) Answer(r *report.Report) html.Answer {
	c := countsOf(r.Releases)
	out := html.Answer{Drift: c.drift(r), Operation: c.operation(r.Releases), Effect: effectsOf(r)}
	if len(r.Releases) == 0 && r.Scan != nil {
		out.Drift = p.noReleases(r)
	}
	left := notCompared(r.Releases)
	if left != "" {
		left = "not compared by design: " + p.escape(left)
	}
	others := append([]string{c.extras(), c.unlistedCounts(true), left}, c.server()...)
	out.Others = slices.DeleteFunc(others, func(line string) bool { return line == "" })
	out.Unseen = append(out.Unseen, c.incomplete(r.Summary, len(r.Errors))...)
	for _, t := range p.scanTroubles(r.Errors) {
		out.Unseen = append(out.Unseen, english.JoinNonEmpty(": ", t.subject, t.message))
	}
	for _, t := range p.releaseTroubles(entriesOf(r.Releases)) {
		if len(out.Unseen) > maxTroubles {
			out.Unseen = append(out.Unseen, "and more, at the releases and objects below")
			break
		}
		out.Unseen = append(out.Unseen, english.JoinNonEmpty(": ", t.subject, t.message))
	}
	return out
}

// effectsOf returns what the operations mean for the pods of all releases; empty if they mean nothing.
func effectsOf(r *report.Report) string {
	t := newText(Options{Unicode: true}, r.Time)
	t.effects(r.Releases)
	return strings.TrimSuffix(t.out.String(), "\n")
}

// Release returns the words about a release.
func (p Phrases) Release(r report.Release) html.ReleasePhrases {
	return html.ReleasePhrases{
		Name: p.releaseName(r, namespaceOf(r)), Answer: releaseAnswer(r), Found: foundCell(entry{r, r.State()}), Origin: p.origin(r),
	}
}

// Object returns the words about an object.
func (p Phrases) Object(o report.Object, r report.Release) html.ObjectPhrases {
	k := p.kindOf(o)
	return html.ObjectPhrases{Kind: k.name + k.version, Name: p.nameOf(o, r), Fate: p.fate(o, r)}
}

// Inside returns a line for each change inside the documents that the sides of a finding are.
func (p Phrases) Inside(f report.Finding) []string {
	lines := p.insideLines(f.Inside, oldDesiredLive)
	if f.Inside.More > 0 {
		lines = append(lines, english.Count(f.Inside.More, "more change"))
	}
	return lines
}

// Remarks returns what is said of a finding beside its values and its owners.
func (p Phrases) Remarks(f report.Finding) []string {
	if len(f.Owners) > 0 {
		return p.qualities(f)
	}
	return p.remarks(f)
}

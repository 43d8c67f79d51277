package text

import (
	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/counts"
	"github.com/helmdrift/helmdrift/internal/output/found"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/sides"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Phrases are the words of the text format for the page of a browser. Each phrase is escaped; only messages may have several lines.
type Phrases struct{ *text }

// Answer is what a report says as a whole.
type Answer struct {
	// Drift answers whether the cluster has left what Helm deployed, and Operation what Helm will do. One of them may be empty.
	Drift, Operation string
	// Effect says what the operation means for pods. It is empty if it means nothing for them.
	Effect string
	// Others count everything else, such as what rules ignore.
	Others []string
	// Unseen says what could not be searched, read or compared. It is empty only if everything was seen.
	Unseen []string
}

// ReleasePhrases are the words about a release.
type ReleasePhrases struct {
	Name, Answer, Found string
	Origin              []string
}

// ObjectPhrases are the words about an object. Kind includes the API version of a custom resource, and Name includes a namespace other
// than the release's.
type ObjectPhrases struct{ Kind, Name, Fate string }

// NewPhrases returns the words about a report.
func NewPhrases(r *report.Report) Phrases {
	return Phrases{newText(layout.Options{Unicode: true}, r.Time)}
}

// Answer returns what the report says as a whole: the last lines of the text, apart from what could not be seen.
func (p Phrases) Answer(r *report.Report) Answer {
	c := counts.Of(r.Releases)
	out := Answer{Drift: c.Drift(r), Operation: c.Operation(r.Releases)}
	if said, _ := p.effects(r.Releases); said != "" {
		out.Effect = counts.Subject(r.Releases) + " " + said
	}
	if len(r.Releases) == 0 && r.Scan != nil {
		out.Drift = p.noReleases(r)
	}
	var others layout.Clauses
	left, server := notCompared(r.Releases), c.Server()
	others.AddNonEmpty(c.Extras(c.Unmentioned()), p.Escape(c.UnlistedCounts(true)))
	others.AddIf(left != "", "not compared by design: "+p.Escape(left))
	others.AddIf(len(server) > 0, "the server "+layout.Enumerate(server))
	out.Others = others
	out.Unseen = append(out.Unseen, c.Incomplete(r.Summary, len(r.Errors))...)
	for _, t := range p.scanTroubles(r.Errors) {
		out.Unseen = append(out.Unseen, layout.JoinNonEmpty(": ", t.subject, t.message))
	}
	for _, t := range p.releaseTroubles(entriesOf(r.Releases)) {
		if len(out.Unseen) > maxTroubles {
			out.Unseen = append(out.Unseen, "and more, at the releases and objects below")
			break
		}
		out.Unseen = append(out.Unseen, layout.JoinNonEmpty(": ", t.subject, t.message))
	}
	return out
}

// Release returns the words about a release.
func (p Phrases) Release(r report.Release) ReleasePhrases {
	return ReleasePhrases{
		Name: p.ReleaseName(r, namespaceOf(r)), Answer: p.answerOf(r), Found: foundCell(entry{Release: r, state: r.State()}), Origin: p.origin(r),
	}
}

// answerOf says in one clause whether a release drifted.
func (p Phrases) answerOf(r report.Release) string {
	if found.In(r).Drift(r.Compared) != "" {
		return "drifted: " + p.found(r)
	}
	return p.found(r)
}

// Object returns the words about an object.
func (p Phrases) Object(o report.Object, r report.Release) ObjectPhrases {
	k := p.KindOf(o)
	return ObjectPhrases{Kind: k.Name + k.Version, Name: p.NameOf(o, r), Fate: p.fate(o, r)}
}

// Inside returns a line for each change inside the documents of a finding.
func (p Phrases) Inside(f report.Finding) []string {
	lines := sides.InsideLines(p.Text, f.Inside, sides.OldDesiredLive)
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

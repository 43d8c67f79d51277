package text

import (
	"time"

	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/output/html"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// HistoryPhrases are the words of a history for a page, as the text has them.
type HistoryPhrases struct{ *text }

var _ html.HistoryPhrases = HistoryPhrases{}

// NewHistoryPhrases returns the words of a history.
func NewHistoryPhrases() HistoryPhrases {
	return HistoryPhrases{newText(Options{Unicode: true}, time.Time{})}
}

// Escape returns a text as it may stand within a line.
func (p HistoryPhrases) Escape(text string) string { return escape.Text(text, false) }

// Totals returns what the history says as a whole.
func (p HistoryPhrases) Totals(h *report.History) []string { return historyTotals(h) }

// Release returns the name of a release.
func (p HistoryPhrases) Release(r report.ReleaseHistory) string {
	return p.releaseName(report.Release{Name: r.Name, Cluster: r.Cluster}, r.Namespace)
}

// Finding returns the words about a finding of a release.
func (p HistoryPhrases) Finding(f report.FindingHistory, r report.ReleaseHistory) html.FindingPhrases {
	out := html.FindingPhrases{
		Object: p.keyName(f.Object, scope{r.Namespace, r.Versions}), Place: p.place(f), State: p.escape(string(f.State)),
		Length: length(f), Period: period(f), Managers: p.managerNames(f.Managers),
	}
	if n := len(f.Steps); n > 0 && f.State == report.FindingThere {
		out.Value = p.stepValue(f.Steps[n-1], f.Masked)
	}
	if f.Flapping {
		out.Flapping = p.flapping(f)
	}
	return out
}

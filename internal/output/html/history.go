package html

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// HistoryPhrases are the words of a history as the text format has them. Each phrase is escaped and one line.
type HistoryPhrases interface {
	// Escape returns a text as it may stand within a line.
	Escape(text string) string
	// Totals returns what the history says as a whole, the most important first.
	Totals(h *report.History) []string
	// Release returns the name of a release, and Finding what is said of a finding of it.
	Release(r report.ReleaseHistory) string
	Finding(f report.FindingHistory, r report.ReleaseHistory) FindingPhrases
}

// FindingPhrases are the words about a finding in a history. Value, Managers and Flapping may be empty.
type FindingPhrases struct{ Object, Place, State, Length, Period, Value, Managers, Flapping string }

// historyPage is what the template of the page of a history takes.
type historyPage struct {
	Policy   string
	Style    template.CSS
	Version  string
	Time     time.Time
	Totals   []string
	Chart    *chart
	Releases []historyRelease
}

// historyRelease is a release on the page. Open says that its table is open from the beginning.
type historyRelease struct {
	Name     string
	Counts   string
	Open     bool
	Findings []historyFinding
}

// historyFinding is a line of a table. Tone is a class of the style.
type historyFinding struct {
	FindingPhrases
	Tone string
}

// History returns the page of a history. It has no script: the chart is made here, and the browser opens and closes the tables by itself.
func History(h *report.History, phrases HistoryPhrases) ([]byte, error) {
	style, err := asset("style.css", "history.css")
	if err != nil {
		return nil, err
	}
	p := historyPage{
		Policy: "default-src 'none'; style-src '" + hash(style) + "'; base-uri 'none'; form-action 'none'",
		Style:  template.CSS(style), Version: phrases.Escape(h.Helmdrift), Time: h.Time.UTC(), Totals: phrases.Totals(h),
		Chart: newChart(h.Points),
	}
	for _, r := range h.Releases {
		p.Releases = append(p.Releases, historyReleaseOf(r, phrases))
	}
	parsed, err := template.ParseFS(files, "page/history.html")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, p); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// historyReleaseOf returns what the page says of a release.
func historyReleaseOf(r report.ReleaseHistory, phrases HistoryPhrases) historyRelease {
	out := historyRelease{Name: phrases.Release(r)}
	counts := map[report.FindingState]int{}
	for _, f := range r.Findings {
		counts[f.State]++
		out.Open = out.Open || f.State == report.FindingThere || f.Flapping
		out.Findings = append(out.Findings, historyFinding{phrases.Finding(f, r), historyTone(f)})
	}
	there, gone, ignored := counts[report.FindingThere], counts[report.FindingGone], counts[report.FindingIgnored]
	said := []string{fmt.Sprintf("%d there, %d gone, %d ignored", there, gone, ignored), fmt.Sprintf("%d reports", r.Reports)}
	if r.Unknown > 0 {
		said = append(said, fmt.Sprintf("%d with an error", r.Unknown))
	}
	out.Counts = strings.Join(said, " · ")
	return out
}

// historyTone returns the class of a state.
func historyTone(f report.FindingHistory) string {
	switch {
	case f.State == report.FindingThere && f.Drifted:
		return "drift"
	case f.State == report.FindingThere:
		return "change"
	case f.State == report.FindingGone:
		return "calm"
	}
	return "none"
}

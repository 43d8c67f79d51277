package html

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/text/history"
	"github.com/helmdrift/helmdrift/pkg/report/past"
)

// historyPage is what the template of the page of a history takes.
type historyPage struct {
	Policy  string
	Style   template.CSS
	Version string
	Time    time.Time
	// Answer is how much drifted, and Moved what came and went since the day before. Totals are the other lines of the text.
	Answer string
	Moved  moved
	Totals []string
	Chart  *chart
	Counts historyCounts
	// Releases have findings or could not be read in full; those with the most drift come first. Clean are all others.
	Releases, Clean []historyRelease
}

// historyCounts are the numbers beside the filters.
type historyCounts struct{ There, Gone, Ignored, New, Flapping, Unmanaged int }

// historyRelease is a release on the page. Open says that it is open from the beginning. Unmanaged are the findings that are not drift,
// because no manifest names the field.
type historyRelease struct {
	Name             string
	Counts           string
	Open             bool
	Drift, Unmanaged []historyFinding

	there int
}

// historyFinding is a line of a table. Tone is a class of the style, and New is set if the finding came since the day before.
type historyFinding struct {
	history.Finding
	Tone, State string
	New         bool
}

// History returns the page of a history. It has no script: the chart is made here, the browser opens and closes the tables by itself, and
// the style makes the check boxes filters.
func History(h *past.History) ([]byte, error) {
	phrases := history.NewPhrases()
	style, err := asset("style.css", "history.css")
	if err != nil {
		return nil, err
	}
	p := historyPage{
		Policy: "default-src 'none'; style-src '" + hash(style) + "'; base-uri 'none'; form-action 'none'",
		Style:  template.CSS(style), Version: phrases.Escape(h.Helmdrift), Time: h.Time.UTC(), Totals: history.Totals(h),
		Chart: newChart(h.Points), Moved: movedSince(h),
	}
	drifted := 0
	for _, r := range h.Releases {
		out := p.release(r, phrases)
		drifted += min(1, out.there)
		if len(r.Findings)+r.Unknown == 0 {
			p.Clean = append(p.Clean, out)
		} else {
			p.Releases = append(p.Releases, out)
		}
	}
	order.Sort(p.Releases, func(a, b historyRelease) int { return b.there - a.there })
	p.Answer = historyAnswer(h, p.Counts.There, drifted)
	return execute("history.html", p)
}

// historyAnswer says how much drift there is. It says "no drift" only if the latest report on each release had no error.
func historyAnswer(h *past.History, there, drifted int) string {
	unknown := 0
	if n := len(h.Points); n > 0 {
		unknown = h.Points[n-1].Unknown
	}
	said := "no drift"
	switch {
	case there > 0:
		said = fmt.Sprintf("%s in %d of %s", english.Count(there, "drifted field or object"), drifted, english.Count(len(h.Releases), "release"))
		said = strings.Replace(said, "field or objects", "fields and objects", 1)
	case unknown > 0:
		said = "no drift seen"
	}
	if unknown > 0 {
		said += ", " + english.Count(unknown, "release") + " could not be read in full"
	}
	return said
}

// release returns what the page says of a release, and counts its findings.
func (p *historyPage) release(r past.Release, phrases history.Phrases) historyRelease {
	out := historyRelease{Name: phrases.Release(r)}
	findings := slices.Clone(r.Findings)
	states := []past.State{past.There, past.Gone, past.Ignored}
	order.Sort(findings, func(a, b past.Finding) int {
		return cmp.Or(slices.Index(states, a.State)-slices.Index(states, b.State), layout.OneIf(p.Moved.isNew(b))-layout.OneIf(p.Moved.isNew(a)))
	})
	counts := map[past.State]int{}
	for _, f := range findings {
		line := historyFinding{phrases.Finding(f, r), historyTone(f), classOf(f.State), p.Moved.isNew(f)}
		if !f.Drifted {
			out.Unmanaged = append(out.Unmanaged, line)
			p.Counts.Unmanaged += layout.OneIf(f.State == past.There)
			continue
		}
		out.Drift = append(out.Drift, line)
		counts[f.State]++
		out.Open = out.Open || f.State == past.There || f.Flapping
		p.Counts.New += layout.OneIf(line.New)
		p.Counts.Flapping += layout.OneIf(f.Flapping)
	}
	out.there = counts[past.There]
	p.Counts.There += out.there
	p.Counts.Gone += counts[past.Gone]
	p.Counts.Ignored += counts[past.Ignored]
	var said layout.Clauses
	for _, state := range states {
		said.AddIf(counts[state] > 0, fmt.Sprintf("%d %s", counts[state], state))
	}
	said.AddIf(len(out.Unmanaged) > 0, fmt.Sprintf("%d unmanaged", len(out.Unmanaged)))
	said = append(said, english.Count(r.Reports, "report"))
	said.AddIf(r.Unknown > 0, fmt.Sprintf("%d with an error", r.Unknown))
	out.Counts = strings.Join(said, " · ")
	return out
}

// classOf returns the class by which a check box finds a state.
func classOf(state past.State) string {
	switch state {
	case past.There, past.Gone, past.Ignored:
		return string(state)
	}
	return ""
}

// moved is what came and went since the day before the last report.
type moved struct {
	// Came counts the drift that is there and was not then. Fixed counts the drift that was there and is gone.
	Came, Fixed int
	// Since names the time of the earlier report: yesterday, or a date. It is empty if there is only one report.
	Since string

	at time.Time
}

// movedSince compares the last report with the latest one that is at least a day older, or else with the first.
func movedSince(h *past.History) moved {
	day := h.Time.Add(-24 * time.Hour)
	var out moved
	for _, p := range h.Points {
		if out.at.IsZero() || !p.Time.After(day) {
			out.at = p.Time
		}
	}
	if out.at.IsZero() || !out.at.Before(h.Time) {
		return moved{}
	}
	out.Since = "since " + out.at.UTC().Format("2006-01-02 15:04")
	if age := h.Time.Sub(out.at); age >= 24*time.Hour && age < 48*time.Hour {
		out.Since = "since yesterday"
	}
	for _, r := range h.Releases {
		for _, f := range r.Findings {
			if !f.Drifted {
				continue
			}
			out.Came += layout.OneIf(out.isNew(f))
			wasThere := !f.FirstSeen.After(out.at)
			out.Fixed += layout.OneIf(f.State == past.Gone && wasThere && f.Ended != nil && f.Ended.After(out.at))
		}
	}
	return out
}

// isNew reports whether a finding is there and came after the earlier report.
func (m moved) isNew(f past.Finding) bool {
	if m.Since == "" || f.State != past.There {
		return false
	}
	came := f.FirstSeen
	for i := 1; i < len(f.Steps); i++ {
		if f.Steps[i].State == past.There && f.Steps[i-1].State != past.There {
			came = f.Steps[i].Time
		}
	}
	return came.After(m.at)
}

// historyTone returns the class of a state.
func historyTone(f past.Finding) string {
	switch {
	case f.State == past.There && f.Drifted:
		return "drift"
	case f.State == past.There:
		return "change"
	case f.State == past.Gone:
		return "calm"
	}
	return "none"
}

// These are the size of a chart, in the units of its own coordinates, and the largest number of points that it shows.
const (
	chartWidth  = 900
	chartHeight = 160
	chartPoints = 450
)

// chart is the drift of all releases over time, as two lines of steps.
type chart struct {
	// Findings and Releases are the points of the lines, as SVG has them.
	Findings, Releases string
	// Most is the number at the top, and From and To are the times at both ends.
	Most     int
	From, To time.Time
	// Title says in words what the chart shows.
	Title string
}

// newChart returns the chart of points in the order of their times; nil if there are fewer than two.
func newChart(points []past.Point) *chart {
	if len(points) < 2 {
		return nil
	}
	points = thinned(points)
	last := points[len(points)-1]
	out := &chart{From: points[0].Time.UTC(), To: last.Time.UTC()}
	for _, p := range points {
		out.Most = max(out.Most, p.Findings, p.Drifted)
	}
	out.Findings = out.steps(points, func(p past.Point) int { return p.Findings })
	out.Releases = out.steps(points, func(p past.Point) int { return p.Drifted })
	out.Title = fmt.Sprintf("%d to %d drifted fields and objects, %d to %d drifted releases, from %s to %s UTC",
		points[0].Findings, last.Findings, points[0].Drifted, last.Drifted,
		out.From.Format("2006-01-02 15:04"), out.To.Format("2006-01-02 15:04"))
	return out
}

// thinned returns at most chartPoints points. If several points share a place, it keeps the one with the most drift.
func thinned(points []past.Point) []past.Point {
	if len(points) <= chartPoints {
		return points
	}
	out := make([]past.Point, 0, chartPoints)
	for i := range chartPoints {
		group := points[i*len(points)/chartPoints : (i+1)*len(points)/chartPoints]
		out = append(out, slices.MaxFunc(group, func(a, b past.Point) int { return a.Findings - b.Findings }))
	}
	return out
}

// steps returns a line that keeps its height until the next point.
func (c *chart) steps(points []past.Point, count func(past.Point) int) string {
	var b strings.Builder
	length := max(c.To.Sub(c.From).Seconds(), 1)
	before := count(points[0])
	for _, p := range points {
		x := p.Time.Sub(c.From).Seconds() / length * chartWidth
		for _, n := range []int{before, count(p)} {
			fmt.Fprintf(&b, "%.1f,%.1f ", x, chartHeight-float64(n)/float64(max(c.Most, 1))*chartHeight)
		}
		before = count(p)
	}
	return strings.TrimSpace(b.String())
}

package html

import (
	"fmt"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// The size of a chart, in the units of its own coordinates, and the number of points that it shows at most.
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
func newChart(points []report.HistoryPoint) *chart {
	if len(points) < 2 {
		return nil
	}
	points = thinned(points)
	last := points[len(points)-1]
	out := &chart{From: points[0].Time.UTC(), To: last.Time.UTC()}
	for _, p := range points {
		out.Most = max(out.Most, p.Findings, p.Drifted)
	}
	out.Findings = out.steps(points, func(p report.HistoryPoint) int { return p.Findings })
	out.Releases = out.steps(points, func(p report.HistoryPoint) int { return p.Drifted })
	out.Title = fmt.Sprintf("%d to %d drifted fields and objects, %d to %d drifted releases, from %s to %s UTC",
		points[0].Findings, last.Findings, points[0].Drifted, last.Drifted, out.From.Format("2006-01-02 15:04"), out.To.Format("2006-01-02 15:04"))
	return out
}

// thinned returns at most chartPoints points. Of several that share a place it keeps that with the most drift.
func thinned(points []report.HistoryPoint) []report.HistoryPoint {
	if len(points) <= chartPoints {
		return points
	}
	out := make([]report.HistoryPoint, 0, chartPoints)
	for i := range chartPoints {
		group := points[i*len(points)/chartPoints : (i+1)*len(points)/chartPoints]
		most := group[0]
		for _, p := range group {
			if p.Findings > most.Findings {
				most = p
			}
		}
		out = append(out, most)
	}
	return out
}

// steps returns a line that keeps its height until the next point.
func (c *chart) steps(points []report.HistoryPoint, count func(report.HistoryPoint) int) string {
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

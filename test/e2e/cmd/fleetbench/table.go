package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// column is a column of a table: its head, and the text for a row.
type column[Row any] struct {
	head string
	text func(Row) string
}

// printTable prints what was measured as two tables in Markdown: time, and what a scan costs otherwise.
func printTable(out io.Writer, o options, rows []row) {
	if len(rows) == 0 {
		return
	}
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
	whole := func(d time.Duration, m row) time.Duration { return d * time.Duration(m.releases) }
	releases := column[row]{"releases", func(m row) string { return fmt.Sprint(m.releases) }}
	times := []column[row]{
		releases,
		{"lists", func(m row) string { return seconds(m.lists) }},
		{"helmdrift", func(m row) string { return seconds(m.scan) }},
		{"helmdrift : lists", func(m row) string { return ratio(m.scan, m.lists) }},
		{"per release", func(m row) string { return milliseconds(m.scan / time.Duration(m.releases)) }},
		{"helmdrift, one by one", func(m row) string { return seconds(whole(m.one, m)) }},
		{"one by one : helmdrift", func(m row) string { return ratio(whole(m.one, m), m.scan) }},
		{"kubectl diff", func(m row) string { return seconds(whole(m.kubectl, m)) }},
		{"kubectl diff : helmdrift", func(m row) string { return ratio(whole(m.kubectl, m), m.scan) }},
	}
	if o.tools.helmDiff != "" {
		times = append(times,
			column[row]{"helm diff", func(m row) string { return seconds(whole(m.helmDiff, m)) }},
			column[row]{"helm diff : helmdrift", func(m row) string { return ratio(whole(m.helmDiff, m), m.scan) }})
	}
	costs := []column[row]{
		releases,
		{"objects", func(m row) string { return fmt.Sprint(m.releases * o.fleet.Objects) }},
		{"processor time", func(m row) string { return seconds(m.processor) }},
		{"peak memory", func(m row) string { return megabytes(m.peak) }},
		{"requests", func(m row) string { return fmt.Sprint(m.scanTraffic.requests) }},
		{"of them for one record", func(m row) string { return fmt.Sprint(m.scanTraffic.records) }},
		{"bytes read", func(m row) string { return megabytes(m.scanTraffic.bytes) }},
		{"requests of the lists", func(m row) string { return fmt.Sprint(m.listTraffic.requests) }},
		{"bytes of the lists", func(m row) string { return megabytes(m.listTraffic.bytes) }},
	}
	fmt.Fprintf(out, "%d objects per release, seed %d, medians of %d rounds. "+
		"Times of tools that compare one release are those of %d releases, extrapolated.\n",
		o.fleet.Objects, o.fleet.Seed, o.rounds, min(o.sample, rows[0].releases))
	for _, columns := range [][]column[row]{times, costs} {
		writeTable(out, columns, rows)
	}
}

// writeTable writes a table in Markdown.
func writeTable[Row any](out io.Writer, columns []column[Row], rows []Row) {
	line := func(text func(column[Row]) string) {
		cells := make([]string, len(columns))
		for i, c := range columns {
			cells[i] = text(c)
		}
		fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	}
	fmt.Fprintln(out)
	line(func(c column[Row]) string { return c.head })
	line(func(column[Row]) string { return "---:" })
	for _, r := range rows {
		line(func(c column[Row]) string { return c.text(r) })
	}
}

func ratio(a, b time.Duration) string { return fmt.Sprintf("%.1f", float64(a)/float64(b)) }
func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}
func megabytes(n int) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

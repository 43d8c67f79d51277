package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// print writes a table in Markdown for each question and, if asked, the wrong answers.
func (m *measurement) print(out io.Writer, verbose bool) error {
	fmt.Fprintf(out, "%s; %d s in all\n", m.versions(context.Background()), int(time.Since(m.started).Seconds()))
	for _, table := range []struct {
		title    string
		question question
		columns  []string
		cells    func(*tally) []any
	}{
		{"Untouched releases", untouched, []string{"silent", "names an object", "no answer"},
			func(t *tally) []any { return []any{t.right, t.asked - t.right - t.failures, t.failures} }},
		{"Edits behind Helm's back", edited, []string{"object shown", "field shown", "of edits that the upgrade undoes", "no answer"},
			func(t *tally) []any {
				return []any{t.right, t.fields, fmt.Sprintf("%d of %d", t.undoneFields, t.undone), t.failures}
			}},
		{"The next upgrade", upgrade, []string{"right", "wrong", "no answer"},
			func(t *tally) []any { return []any{t.right, t.asked - t.right - t.failures, t.failures} }},
	} {
		m.printTable(out, table.title, table.question, table.columns, table.cells)
	}
	if verbose {
		m.printWrong(out)
	}
	return nil
}

// printTable writes the table of one question. A cell has the number for Helm 3 and the number for Helm 4.
func (m *measurement) printTable(out io.Writer, title string, q question, columns []string, cells func(*tally) []any) {
	fmt.Fprintf(out, "\n%s\n\n| command | asked | %s | seconds each |\n|---|%s\n", title, strings.Join(columns, " | "),
		strings.Repeat("---:|", len(columns)+2))
	for _, c := range m.commands {
		var asked []string
		numbers := make([][]string, len(columns))
		var all tally
		for _, major := range []string{"3", "4"} {
			t := m.tallies[tallyKey{c.text, q, major}]
			if t == nil {
				continue
			}
			asked = append(asked, fmt.Sprint(t.asked))
			for i, n := range cells(t) {
				numbers[i] = append(numbers[i], fmt.Sprint(n))
			}
			all.asked, all.took = all.asked+t.asked, all.took+t.took
		}
		if all.asked == 0 {
			continue
		}
		fmt.Fprintf(out, "| `%s` | %s ", c.text, strings.Join(asked, " + "))
		for _, column := range numbers {
			fmt.Fprintf(out, "| %s ", strings.Join(column, " + "))
		}
		fmt.Fprintf(out, "| %.1f |\n", all.took.Seconds()/float64(all.asked))
	}
}

// printWrong lists what was wrong, and about what nobody was asked.
func (m *measurement) printWrong(out io.Writer) {
	for _, c := range m.commands {
		for _, q := range []question{untouched, edited, upgrade} {
			for _, major := range []string{"3", "4"} {
				if t := m.tallies[tallyKey{c.text, q, major}]; t != nil && len(t.wrong) > 0 {
					fmt.Fprintf(out, "\n%s, %s, Helm %s:\n  %s\n", c.text, q, major, strings.Join(t.wrong, "\n  "))
				}
			}
		}
	}
	if len(m.skipped) > 0 {
		fmt.Fprintf(out, "\nNot asked about:\n  %s\n", strings.Join(m.skipped, "\n  "))
	}
}

func (q question) String() string { return [...]string{"untouched", "edited", "upgrade"}[q] }

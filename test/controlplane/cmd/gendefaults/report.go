package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// writeReport lists, as Markdown, every field that defaulting changes and that the
// table cannot have. Such fields need a rule in code.
func (s *survey) writeReport(out io.Writer) error {
	var text strings.Builder
	text.WriteString("# Defaults that depend on siblings or on the kind\n\n" +
		"filled: the field was absent and got this value. left: it was absent and stayed absent.\n" +
		"changed: it was set, and defaulting changed or removed it. Numbers count places.\n\n")
	for _, key := range s.sorted() {
		found := s.spots[key]
		if len(found.changed) == 0 && (found.everywhere() || len(found.filled) == 0) {
			continue
		}
		fmt.Fprintf(&text, "## %s %s\n\n", key.goType, key.field)
		values := slices.SortedFunc(maps.Keys(found.filled), func(a, b string) int {
			return cmp.Or(cmp.Compare(found.filled[b].total(), found.filled[a].total()), strings.Compare(a, b))
		})
		for i, value := range values {
			if i == 6 {
				fmt.Fprintf(&text, "* … and %d more values\n", len(values)-i)
				break
			}
			fmt.Fprintf(&text, "* filled `%s`: %s\n", value, summarise(found.filled[value]))
		}
		if len(found.left) > 0 {
			fmt.Fprintf(&text, "* left: %s\n", summarise(found.left))
		}
		if len(found.changed) > 0 {
			fmt.Fprintf(&text, "* changed: %s\n", summarise(found.changed))
		}
		text.WriteString("\n")
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// summarise counts places and names the most frequent ones.
func summarise(seen places) string {
	order := slices.SortedFunc(maps.Keys(seen), func(a, b place) int {
		return cmp.Or(cmp.Compare(seen[b], seen[a]), strings.Compare(a.kind+a.path, b.kind+b.path))
	})
	const most = 5
	var names []string
	for _, at := range order[:min(most, len(order))] {
		names = append(names, fmt.Sprintf("%s %s (%d)", at.kind, at.path, seen[at]))
	}
	if len(order) > most {
		names = append(names, fmt.Sprintf("%d more paths", len(order)-most))
	}
	return fmt.Sprintf("%d: %s", seen.total(), strings.Join(names, "; "))
}

func (p places) total() int {
	sum := 0
	for _, count := range p {
		sum += count
	}
	return sum
}

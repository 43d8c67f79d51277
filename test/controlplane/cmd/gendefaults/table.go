package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// writeTable writes the defaults that hold everywhere, one Go type per line.
func (s *survey) writeTable(out io.Writer) error {
	fields := map[string][]string{}
	for _, key := range s.sorted() {
		found := s.spots[key]
		if !found.everywhere() {
			continue
		}
		name, err := quote(key.field)
		if err != nil {
			return err
		}
		for value := range found.filled {
			fields[key.goType] = append(fields[key.goType], name+": "+value)
		}
	}
	var lines []string
	for _, goType := range slices.Sorted(maps.Keys(fields)) {
		name, err := quote(goType)
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("  %s: {%s}", name, strings.Join(fields[goType], ", ")))
	}
	_, err := fmt.Fprintf(out, "{\n%s\n}\n", strings.Join(lines, ",\n"))
	return err
}

// sorted returns all spots in order.
func (s *survey) sorted() []spot {
	return slices.SortedFunc(maps.Keys(s.spots), func(a, b spot) int {
		return cmp.Or(strings.Compare(a.goType, b.goType), strings.Compare(a.field, b.field))
	})
}

// quote returns a text as JSON.
func quote(text string) (string, error) {
	var out bytes.Buffer
	err := json.NewEncoder(&out).Encode(text)
	return strings.TrimSpace(out.String()), err
}

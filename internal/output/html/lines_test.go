package html

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMark checks which lines of the sides are marked: those that differ from the side they are compared with.
func TestMark(t *testing.T) {
	text := func(all ...string) any { return lines{strings.Join(all, "\n")} }
	for name, tt := range map[string]struct {
		field field
		want  *marked
	}{
		"drift":    {field{Old: text("a", "b", "c"), Desired: true, Live: text("a", "x", "c")}, &marked{Old: []int{1, 2}, Live: []int{1, 2}}},
		"a change": {field{Old: text("a", "b"), Desired: text("a", "b", "c", "d"), Live: text("a", "b")}, &marked{Desired: []int{2, 4}}},
		"all three": {field{Old: text("a", "b"), Desired: text("x", "b"), Live: text("a", "y")},
			&marked{Old: []int{1, 2}, Desired: []int{0, 1}, Live: []int{1, 2}}},
		"two places":            {field{Old: text("a", "b", "c"), Desired: true, Live: text("x", "b", "y")}, &marked{Old: []int{0, 1, 2, 3}, Live: []int{0, 1, 2, 3}}},
		"a line break":          {field{Old: text("a", "b"), Desired: true, Live: text("a", "b", "")}, &marked{Live: []int{2, 3}}},
		"a tree and a word":     {field{Old: tree{"[\n  1\n]"}, Desired: true, Live: "x"}, &marked{Old: []int{0, 3}, Live: []int{0, 1}}},
		"one line":              {field{Old: "a", Desired: true, Live: "b"}, nil},
		"a side without fields": {field{Live: text("a", "b")}, nil},
	} {
		if tt.field.mark(); !cmp.Equal(tt.field.Marked, tt.want) {
			t.Errorf("%s: marked are %+v, want %+v", name, tt.field.Marked, tt.want)
		}
	}
}

// TestPartsOf checks that the parts of a value have all of its lines, and that long runs of equal lines are folded.
func TestPartsOf(t *testing.T) {
	var all []string
	for i := range 40 {
		all = append(all, fmt.Sprint(i))
	}
	for name, tt := range map[string]struct {
		ranges []int
		want   string
	}{
		"no difference": {nil, "40"},
		"in the middle": {[]int{20, 21}, "0 fold:17 3 was:1 3 fold:16 0"},
		"at the ends":   {[]int{0, 2, 39, 40}, "0 was:2 3 fold:31 3 was:1 0"},
		"near":          {[]int{10, 11, 15, 16}, "0 fold:7 3 was:1 4 was:1 3 fold:21 0"},
	} {
		var got, lines []string
		for _, p := range partsOf(strings.Join(all, "\n"), tt.ranges, "was") {
			said := fmt.Sprint(len(p.Lines))
			if p.Mark != "" {
				said = p.Mark + ":" + said
			}
			if p.Fold > 0 {
				said = "fold:" + said
			}
			got, lines = append(got, said), append(lines, p.Lines...)
		}
		if strings.Join(got, " ") != tt.want || !slices.Equal(lines, all) {
			t.Errorf("%s: the parts are %v with %d lines, want %s", name, got, len(lines), tt.want)
		}
	}
}

package deploy

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// TestDocsListTheMetrics: the table of docs/fleet.md has every metric with its labels, and no other.
func TestDocsListTheMetrics(t *testing.T) {
	text, err := os.ReadFile("../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string][]string{}
	quoted := regexp.MustCompile("`([a-z_]+)`")
	for _, row := range regexp.MustCompile("(?m)^\\| (`helmdrift_.*?) \\| (.*?) ?\\| .* \\|$").FindAllStringSubmatch(string(text), -1) {
		for _, name := range quoted.FindAllStringSubmatch(row[1], -1) {
			documented[name[1]] = []string{}
			for _, label := range quoted.FindAllStringSubmatch(row[2], -1) {
				documented[name[1]] = append(documented[name[1]], label[1])
			}
		}
	}
	written := map[string][]string{}
	for _, s := range parse(t, golden(t, "fleet")) {
		written[s.name()] = []string{}
		s.labels.Range(func(l labels.Label) {
			if l.Name != model.MetricNameLabel {
				written[s.name()] = append(written[s.name()], l.Name)
			}
		})
	}
	for _, all := range []map[string][]string{documented, written} {
		for name := range all {
			slices.Sort(all[name])
		}
	}
	if diff := cmp.Diff(written, documented); diff != "" {
		t.Errorf("the table (-written +documented):\n%s", diff)
	}
	if !strings.Contains(string(text), "18,504 series in 1.8 MB") {
		t.Error("the number of series of TestSeriesOfALargeFleet is another one")
	}
}

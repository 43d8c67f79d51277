package output

import (
	"strings"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/internal/choose"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestTimelineSaysWhatItLacks checks the order, and that everything that is not in the timeline is counted.
func TestTimelineSaysWhatItLacks(t *testing.T) {
	r := reports(t)["scan-clusters"]
	choose.Since(r, func(report.Release) time.Time { return r.Time.Add(-3 * time.Hour) })
	out := string(render(t, Text, r, Options{Text: text.Options{Unicode: true, Timeline: true}}))
	for _, want := range []string{
		"09:18:00  kubectl", "; 2 without a time; 1 ignored; 4 left out by --since\n",
		"warning: no time is recorded for 1 finding, so --since keeps: Service web\n", "incomplete: 10 errors",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "k9s") || strings.Index(out, "08:00:00") < strings.Index(out, "09:18:00") {
		t.Errorf("order:\n%s", out)
	}
	if r.Summary.Ignored != 5 || r.Summary.DriftedReleases != 3 {
		t.Errorf("summary %+v", r.Summary)
	}
}

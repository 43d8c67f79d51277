package choose

import (
	"fmt"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Since leaves out of a report what was last written before a time, which from says for each release. What has no time stays, and a
// warning of the release names it: nobody knows whether it is new. Changes of the chart stay too, since nobody wrote them to the cluster.
func Since(r *report.Report, from func(report.Release) time.Time) {
	rule := &report.IgnoreRule{Rule: "--since", LeftOut: true}
	for i := range r.Releases {
		release := &r.Releases[i]
		var untimed []string
		from := from(*release)
		LeaveOut(release, rule,
			func(o *report.Object) bool {
				if o.Gone() {
					untimed = append(untimed, o.Kind+" "+o.Name)
				}
				return false
			},
			func(o *report.Object, f *report.Finding) bool {
				at, timed := f.NewestWrite()
				switch {
				case f.Cause == report.CauseChange || o.Gone() && o.IgnoredBy == nil:
					return false
				case !timed:
					untimed = append(untimed, f.Path+" of "+o.Kind+" "+o.Name)
					return false
				}
				return at.Before(from)
			})
		if n := len(untimed); n > 0 {
			names := strings.Join(english.AtMost(untimed, maxNamed), ", ")
			release.Warnings = append(release.Warnings, report.Message{Code: report.WarnNoTime,
				Message: fmt.Sprintf("no time is recorded for %s, so --since keeps: %s", english.Count(n, "finding"), names)})
		}
	}
	r.Recount()
}

// maxNamed is how many findings without a time are named; the others are counted.
const maxNamed = 5

package layout

import (
	"fmt"
	"time"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// NoDrift says of releases that nothing in them drifted: "no drift", or "nothing new (11 known since 2026-11-20)" if a baseline knows
// findings. What is known is still there, so it must not look like no drift. If the baselines differ, all is known since the last of them.
func NoDrift(releases ...report.Release) string {
	known, since := 0, time.Time{}
	add := func(rule *report.IgnoreRule) {
		if rule != nil && rule.KnownSince != nil {
			known++
			if rule.KnownSince.After(since) {
				since = *rule.KnownSince
			}
		}
	}
	for _, r := range releases {
		for _, o := range r.Objects {
			add(o.IgnoredBy)
			for _, f := range o.Fields {
				add(f.IgnoredBy)
			}
		}
	}
	if known == 0 {
		return "no drift"
	}
	return fmt.Sprintf("nothing new (%d known since %s)", known, since.UTC().Format(time.DateOnly))
}

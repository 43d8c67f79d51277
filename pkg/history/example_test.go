package history_test

import (
	"fmt"
	"time"

	"github.com/helmdrift/helmdrift/pkg/history"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// A Builder reads reports in the order of their times and keeps when each finding came and went.
func ExampleBuilder() {
	drifted := report.Release{Name: "web", Namespace: "prod", Operation: report.OperationDrift, Drifted: true, Objects: []report.Object{{
		APIVersion: "apps/v1", Kind: "Deployment", Namespace: "prod", Name: "web", Action: report.ActionUpdate, Drifted: true,
		Fields: []report.Finding{{ID: "1", Path: "spec.replicas", Pointer: "/spec/replicas", Verdict: report.Overwrite, Cause: report.CauseDrift,
			Managed: true, Certain: true, Old: int64(2), Desired: int64(2), Live: int64(5), After: int64(2)}},
	}}}
	clean := report.Release{Name: "web", Namespace: "prod", Operation: report.OperationDrift}

	var builder history.Builder
	monday := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	for day, release := range []report.Release{clean, drifted, clean} {
		if err := builder.Add(report.New("v0.1.0", monday.AddDate(0, 0, day), []report.Release{release})); err != nil {
			panic(err)
		}
	}
	for _, release := range builder.History("v0.1.0").Releases {
		for _, f := range release.Findings {
			fmt.Println(f.Path, "came", f.Steps[0].Time.Weekday(), "and went", f.Steps[len(f.Steps)-1].Time.Weekday())
		}
	}
	// Output:
	// spec.replicas came Tuesday and went Wednesday
}

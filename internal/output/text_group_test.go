package output

import (
	"testing"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestNullIsNotAbsent: a change from null and one from nothing are two, though JSON writes both sides as null.
func TestNullIsNotAbsent(t *testing.T) {
	finding := func(old any) report.Finding {
		return report.Finding{Path: "spec.size", Verdict: report.Add, Cause: report.CauseChange, Managed: true, Certain: true, Old: old, Desired: 5}
	}
	null, _ := groupKeyOf(finding(object.Null{}))
	absent, _ := groupKeyOf(finding(nil))
	if null == absent {
		t.Errorf("a field that is null and one that is not there are told as the same: %+v", null)
	}
	if again, grouped := groupKeyOf(finding(object.Null{})); !grouped || again != null {
		t.Errorf("equal findings are told apart: %+v, %+v", null, again)
	}
}

package deployer

import "github.com/helmdrift/helmdrift/pkg/report"

// Changed returns how many objects the chart and the values change, whether or not they drifted. A value that is not known counts as no
// change.
func Changed(objects []report.Object) int {
	n := 0
	for _, o := range objects {
		if isChanged(o) {
			n++
		}
	}
	return n
}

func isChanged(o report.Object) bool {
	switch o.Action {
	case report.ActionCreate, report.ActionDelete, report.ActionAdopt:
		if !o.Missing {
			return true
		}
	}
	for _, f := range o.Fields {
		if f.Cause != report.CauseDrift && f.Managed && !f.Silenced() && f.Class != report.ClassUnknown {
			return true
		}
	}
	return false
}

package layout

import "github.com/helmdrift/helmdrift/pkg/report"

// Conflicts counts the conflicts of an object that fails on nothing else. Each stands at its field, so the reason of the failure does not
// repeat them.
func Conflicts(o report.Object) (n int) {
	for _, f := range o.Fields {
		n += OneIf(f.Verdict == report.Conflict)
	}
	return n * OneIf(o.OnlyConflicts)
}

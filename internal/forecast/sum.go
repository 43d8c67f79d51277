package forecast

import (
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// sum returns the sum of the effects on objects; nil if there are none.
func sum(objects []Object, effects map[object.Key]*report.Effect) *report.ReleaseEffect {
	out := &report.ReleaseEffect{}
	var down []string
	for i := range objects {
		o, e := &objects[i], effects[objects[i].Key]
		if e == nil {
			continue
		}
		out.Restarts, out.Starts, out.Stops = out.Restarts+e.Restarts, out.Starts+e.Starts, out.Stops+e.Stops
		if e.Restarts > 0 {
			out.Workloads++
		}
		if e.Downtime {
			out.Downtime = append(out.Downtime, report.ObjectKey{Key: o.Key})
			down = append(down, o.Name)
		}
		if out.Inexact == "" {
			out.Inexact = e.Inexact
		}
	}
	var clauses []string
	if out.Restarts > 0 {
		clauses = append(clauses, fmt.Sprintf("restarts %s in %s", counted(out.Restarts, "pod"), counted(out.Workloads, "workload")))
	}
	if out.Starts > 0 {
		clauses = append(clauses, "starts "+counted(out.Starts, "pod"))
	}
	if out.Stops > 0 {
		clauses = append(clauses, "stops "+counted(out.Stops, "pod"))
	}
	if len(clauses) == 0 {
		return nil
	}
	out.Text = strings.Join(clauses, ", ")
	if len(down) > 0 {
		out.Text += "; " + strings.Join(down, ", ") + " without a ready pod meanwhile"
	}
	return out
}

// counted returns a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

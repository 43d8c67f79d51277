package forecast

import (
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// sum returns the sum of the effects on objects; nil if no pod restarts, starts or stops, nothing goes down and nothing is lost.
func sum(objects []Object, effects map[object.Key]*report.Effect) *report.ReleaseEffect {
	out := &report.ReleaseEffect{}
	var outages, lost, cut []string
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
			if o.runsPods() {
				outages = append(outages, outage(o, e))
			} else {
				cut = append(cut, named(o.Key))
			}
		}
		lost = append(lost, e.Lost...)
		if out.Inexact == "" && (e.Restarts+e.Starts+e.Stops+len(e.Lost) > 0 || e.Downtime) {
			out.Inexact = e.Inexact
		}
	}
	var does []string
	if out.Restarts > 0 {
		does = append(does, fmt.Sprintf("restarts %s in %s", english.Count(out.Restarts, "pod"), english.Count(out.Workloads, "workload")))
	}
	if out.Starts > 0 {
		does = append(does, "starts "+english.Count(out.Starts, "pod"))
	}
	if out.Stops > 0 {
		does = append(does, "stops "+english.Count(out.Stops, "pod"))
	}
	var clauses []string
	if len(does) > 0 {
		clauses = append(clauses, strings.Join(does, ", "))
	}
	clauses = append(clauses, outages...)
	if len(cut) > 0 {
		clauses = append(clauses, firstNames(cut)+" "+verb(len(cut), "has", "have")+" no ready pod for a time")
	}
	if len(lost) > 0 {
		clauses = append(clauses, "lost for good: "+firstNames(lost))
	}
	if len(clauses) == 0 {
		return nil
	}
	out.Text = strings.Join(clauses, "; ")
	return out
}

// outage says that a workload has no ready pod for a time, and why.
func outage(o *Object, e *report.Effect) string {
	switch {
	case e.Restarts == 0:
		return o.Name + " has no pods afterwards"
	case strategyType(o.After) == recreate:
		return o.Name + " is down while it restarts (Recreate)"
	}
	return o.Name + " is down while it restarts"
}

package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// effect writes what the write of an object means for pods and data, and what its drift has meant for them.
func (t *text) effect(e *report.Effect) {
	if e == nil {
		return
	}
	said := "effect: " + t.message(e.Text)
	if e.RestartedAt != nil {
		said += "; an edit restarted its pods " + age(t.now.Sub(*e.RestartedAt))
	}
	t.continuation("  ", said+t.inexact(e.Inexact))
	for _, lost := range e.Lost {
		t.continuation("  ", "lost for good: "+t.message(lost))
	}
	for _, note := range e.Notes {
		t.continuation("  ", t.message(note))
	}
}

// inexact says why a forecast is not exact; it is empty if it is.
func (t *text) inexact(why string) string {
	if why == "" {
		return ""
	}
	return " (not exact: " + t.message(why) + ")"
}

// effectOf says what the writes of an operation or a fix mean for the pods of a release.
func (t *text) effectOf(subject string, e *report.ReleaseEffect) {
	if e != nil {
		t.prose(subject + " " + t.message(e.Text) + t.inexact(e.Inexact))
	}
}

// effects says what the operations mean for the pods of all releases. Of several releases, only those with an outage are named.
func (t *text) effects(releases []report.Release) {
	releases = slices.DeleteFunc(slices.Clone(releases), func(rel report.Release) bool { return rel.Effect == nil })
	switch len(releases) {
	case 0:
		return
	case 1:
		t.effectOf(subject(releases), releases[0].Effect)
		return
	}
	var sum report.ReleaseEffect
	var down []string
	for _, rel := range releases {
		e := rel.Effect
		sum.Restarts, sum.Workloads = sum.Restarts+e.Restarts, sum.Workloads+e.Workloads
		sum.Starts, sum.Stops = sum.Starts+e.Starts, sum.Stops+e.Stops
		if len(e.Downtime) > 0 {
			down = append(down, t.releaseName(rel, rel.Namespace))
		}
	}
	var does clauses
	does.add("restarts", sum.Restarts, "pod")
	if sum.Restarts > 0 {
		does[0] += " in " + english.Count(sum.Workloads, "workload")
	}
	does.add("starts", sum.Starts, "pod")
	does.add("stops", sum.Stops, "pod")
	said := fmt.Sprintf("%s %s of %s", subject(releases), english.Enumerate(does), english.Count(len(releases), "release"))
	if len(down) > 0 {
		said += "; workloads without a ready pod meanwhile: " + strings.Join(t.firstNames(down, maxNames), ", ")
	}
	t.prose(said)
}

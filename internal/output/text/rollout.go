package text

import (
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// rolloutWords say what became of the wait for an object.
func rolloutWords() map[report.RolloutStatus]string {
	return map[report.RolloutStatus]string{
		report.RolloutReady: "up", report.RolloutFailed: "not up", report.RolloutTimedOut: "not up in time",
		report.RolloutInterrupted: "interrupted while waiting",
	}
}

// rollouts writes how far the objects came up: those that did in one line, and of each other one why it did not.
func (t *text) rollouts(r *report.FixResult) {
	var up []string
	for _, o := range r.Results {
		if o.Rollout != nil && o.IsUp() {
			up = append(up, t.keyName(o.Object, scope{r.Namespace, r.Versions}))
		}
	}
	if len(up) > 0 {
		t.prose("up: " + strings.Join(t.firstNames(up, maxNames), ", "))
	}
	for _, o := range r.Results {
		if !o.IsUp() {
			name := t.keyName(o.Object, scope{r.Namespace, r.Versions})
			t.prose(rolloutWords()[o.Rollout.Status] + ": " + english.JoinNonEmpty(": ", name, t.rolloutClause(*o.Rollout)))
			t.problem(*o.Rollout)
		}
	}
}

// problem writes why an object is not up, behind a gutter, since all of it comes from the cluster.
func (t *text) problem(r report.Rollout) {
	const indent = "  "
	if said := t.reasonClause(r.RolloutProblem); said != "" {
		t.continuation(indent, said)
	}
	for _, e := range r.Events {
		said := t.escape(e.Object) + ": " + t.escape(e.Reason)
		if e.Count > 1 {
			said += fmt.Sprintf(" (%d times)", e.Count)
		}
		t.continuation(indent, english.JoinNonEmpty(": ", said, t.escape(e.Message)))
	}
	if len(r.Log) > 0 {
		t.continuation(indent, "log:")
	}
	for _, l := range r.Log {
		t.continuation(indent+indent, t.escape(l))
	}
	for _, unread := range r.Unread {
		t.continuation(indent, "could not be read: "+t.escape(unread))
	}
}

// rolloutClause says how far an object is: the counts of its pods, or what its status says.
func (s style) rolloutClause(r report.Rollout) string {
	message := s.escape(r.Message)
	if r.PodCounts == nil {
		return message
	}
	said := fmt.Sprintf("%d of %s updated, %d ready, %d unavailable", r.Updated, english.Count(int(r.Wanted), "pod"), r.Ready, r.Unavailable)
	if r.Updated == r.Wanted && r.Ready == r.Wanted && r.Unavailable == 0 {
		return english.JoinNonEmpty("; ", said, message)
	}
	return said
}

// reasonClause says why an object is not up: where, and what the cluster says. It is empty if nothing is known.
func (s style) reasonClause(p report.RolloutProblem) string {
	var where []string
	if p.Pod != "" {
		where = append(where, "pod "+s.escape(p.Pod))
	}
	if p.Container != "" {
		where = append(where, "container "+s.escape(p.Container))
	}
	return english.JoinNonEmpty(": ", strings.Join(where, ", "), s.escape(p.Reason))
}

// notUpClause counts what is not up. It is empty if everything did, or nothing was waited for.
func notUpClause(r *report.FixResult) string {
	waited, missing := 0, 0
	for _, o := range r.Results {
		waited += oneIf(o.Rollout != nil)
		missing += oneIf(!o.IsUp())
	}
	if missing == 0 {
		return ""
	}
	verb := " are"
	if missing == 1 {
		verb = " is"
	}
	return fmt.Sprintf("%d of %s%s not up; nothing was rolled back", missing, english.Count(waited, "object"), verb)
}

// RolloutReason returns why an object does not come up, for a message while a fix waits.
func RolloutReason(o report.FixOutcome, namespace string, versions report.CustomVersions, opts Options) string {
	s := newStyle(opts)
	return english.JoinNonEmpty(": ", s.keyName(o.Object, scope{namespace, versions}), s.reasonClause(o.Rollout.RolloutProblem))
}

package forecast

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// job returns the effect of the write of a Job. Its template cannot change, so a Job never runs again unless it is created again.
func (in Input) job(o *Object) *report.Effect {
	live := decoded[batchv1.Job](o.Live)
	active := int(live.Status.Active)
	if o.After == nil {
		if active == 0 {
			return nil
		}
		return &report.Effect{Text: "stops " + english.Count(active, "pod") + " that " + verb(active, "runs", "run"), Stops: active}
	}
	before, after := decoded[batchv1.Job](o.Before), decoded[batchv1.Job](o.After)
	if o.Before == nil {
		return started(parallel(after, 0))
	}
	if before.Spec.Suspend != nil && after.Spec.Suspend != nil && *before.Spec.Suspend != *after.Spec.Suspend {
		if *after.Spec.Suspend {
			return &report.Effect{Text: fmt.Sprintf("is suspended: stops %s", english.Count(active, "pod")), Stops: active}
		}
		return started(parallel(after, int(live.Status.Succeeded)))
	}
	if finished(live) || isTrue(after.Spec.Suspend) {
		return nil
	}
	was, is := parallel(before, int(live.Status.Succeeded)), parallel(after, int(live.Status.Succeeded))
	switch {
	case is > was:
		return started(is - was)
	case is < was:
		return &report.Effect{Text: "stops " + english.Count(was-is, "pod"), Stops: was - is}
	}
	return nil
}

// started returns the effect of a Job that starts pods; nil if it starts none.
func started(n int) *report.Effect {
	if n == 0 {
		return nil
	}
	return &report.Effect{Text: "runs: starts " + english.Count(n, "pod"), Starts: n}
}

// parallel returns how many pods of a Job run at the same time if some have succeeded.
func parallel(j batchv1.Job, succeeded int) int {
	if isTrue(j.Spec.Suspend) {
		return 0
	}
	n := 1
	if j.Spec.Parallelism != nil {
		n = int(*j.Spec.Parallelism)
	}
	if j.Spec.Completions != nil {
		n = min(n, max(0, int(*j.Spec.Completions)-succeeded))
	}
	return n
}

// finished reports whether a Job is complete or has failed.
func finished(j batchv1.Job) bool {
	for _, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == "True" {
			return true
		}
	}
	return false
}

// cronJob returns the effect of the write of a CronJob: when it runs next, and what becomes of the Jobs that run.
func (in Input) cronJob(o *Object) *report.Effect {
	live, before, after := decoded[batchv1.CronJob](o.Live), decoded[batchv1.CronJob](o.Before), decoded[batchv1.CronJob](o.After)
	active := len(live.Status.Active)
	switch {
	case o.Before != nil && object.Equal(o.Before["spec"], object.Field(o.After, "spec")):
		return nil
	case o.After == nil && active > 0:
		return &report.Effect{Text: "runs no more, and " + english.Count(active, "running Job") + " " +
			verb(active, "is deleted with its pods", "are deleted with their pods")}
	case o.After == nil:
		return &report.Effect{Text: "runs no more"}
	case isTrue(after.Spec.Suspend) && (o.Before == nil || isTrue(before.Spec.Suspend)):
		return &report.Effect{Text: "does not run while it is suspended"}
	case isTrue(after.Spec.Suspend):
		return &report.Effect{Text: "is suspended: does not run until it is resumed"}
	}
	e := &report.Effect{}
	if o.Before == nil {
		e.Text = "runs first"
	} else {
		e.Text = "runs next"
	}
	in.nextRun(e, o, live, before, after)
	if o.Before == nil {
		return e
	}
	if active > 0 {
		e.Notes = append(e.Notes, english.Count(active, "running Job")+" "+verb(active, "keeps its", "keep their")+" template")
	}
	if before.Spec.ConcurrencyPolicy != after.Spec.ConcurrencyPolicy {
		e.Notes = append(e.Notes, concurrency(after.Spec.ConcurrencyPolicy))
	}
	return e
}

// nextRun adds to the text when a CronJob runs next. The controller looks at it at once if anything but its schedule changes, and then
// makes up for a run that was due; after a change of the schedule, it waits for the next time.
func (in Input) nextRun(e *report.Effect, o *Object, live, before, after batchv1.CronJob) {
	s, err := parseSchedule(after.Spec.Schedule)
	zone := time.UTC
	if name := after.Spec.TimeZone; name != nil && err == nil {
		zone, err = time.LoadLocation(*name)
	} else if err == nil {
		e.Inexact = "the CronJob has no timeZone, so that of the controller manager applies (UTC is assumed)"
	}
	if err != nil || in.Now.IsZero() {
		e.Text += " by schedule " + after.Spec.Schedule
		return
	}
	missed := o.Before != nil && in.missed(live, after, s, zone)
	sameSchedule := before.Spec.Schedule == after.Spec.Schedule && equality.Semantic.DeepEqual(before.Spec.TimeZone, after.Spec.TimeZone)
	if missed && sameSchedule {
		e.Text = "runs at once, because it missed a run"
		if isTrue(before.Spec.Suspend) {
			e.Text += " while it was suspended"
		}
		return
	}
	next := s.next(in.Now, zone)
	if next.IsZero() {
		e.Text, e.Inexact = "never runs: no day matches schedule "+after.Spec.Schedule, ""
		return
	}
	if e.Text += " on " + next.Format("2006-01-02 at 15:04 MST"); missed {
		e.Text += ", or earlier, because a run was due by the new schedule since the last one"
	}
}

// missed reports whether a run was due since the last one that is not too late.
func (in Input) missed(live, after batchv1.CronJob, s schedule, zone *time.Location) bool {
	last := live.CreationTimestamp.Time
	if live.Status.LastScheduleTime != nil {
		last = live.Status.LastScheduleTime.Time
	}
	if deadline := after.Spec.StartingDeadlineSeconds; deadline != nil {
		if earliest := in.Now.Add(-time.Duration(*deadline) * time.Second); earliest.After(last) {
			last = earliest
		}
	}
	due := s.next(last, zone)
	if after.Spec.ConcurrencyPolicy == batchv1.ForbidConcurrent && len(live.Status.Active) > 0 {
		return false
	}
	return !last.IsZero() && !due.IsZero() && !due.After(in.Now)
}

// concurrency says what a policy means if a run is due while another one has not ended.
func concurrency(policy batchv1.ConcurrencyPolicy) string {
	switch policy {
	case batchv1.ReplaceConcurrent:
		return "a run that has not ended is stopped by the next"
	case batchv1.ForbidConcurrent:
		return "a run is left out while the last has not ended"
	case batchv1.AllowConcurrent:
	}
	return "a run starts also while the last has not ended"
}

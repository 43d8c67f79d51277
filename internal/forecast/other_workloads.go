package forecast

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// isPod reports whether an object is a Pod. Pods in a manifest have no controller.
func (o *Object) isPod() bool { return o.GroupKind() == schema.GroupKind{Kind: "Pod"} }

// barePod returns the effect of the write of a Pod, or nil if it has none. Nobody replaces such a Pod: if it is deleted, it is gone, and
// an update changes it in place (kubernetes v1.36.3 pkg/apis/core/validation/validation.go ValidatePodUpdate).
func barePod(o *Object) *report.Effect {
	status := object.Child(o.Live, "status")
	e := &report.Effect{}
	if !o.TemplateEdited.IsZero() && !hasEnded(status) && restarted(o.Deployed, o.Before, status) > 0 {
		e.Text, e.RestartedAt = "restarts nothing", &o.TemplateEdited
	}
	runs, gated := o.Before != nil && !hasEnded(status) && !isGated(o.Before), isGated(o.After)
	switch {
	case !o.Action.Writes():
	case runs && o.After == nil:
		e.Text, e.Stops = "stops 1 pod", 1
	case runs:
		o.changesInPlace(e, status)
	case o.Before == nil && gated:
		e.Text = "starts nothing until its scheduling gates are removed"
	case o.After != nil && !gated && !hasEnded(status):
		e.Text, e.Starts = "starts 1 pod", 1
	}
	if e.Text == "" {
		return nil
	}
	if e.Restarts+e.Starts+e.Stops > 0 {
		e.LeastReady, e.Downtime = new(int), runs && isReady(status)
	}
	return e
}

// changesInPlace adds what an update means for a running Pod. The kubelet restarts a container if its image changes (kubernetes v1.36.3
// pkg/kubelet/container/helpers.go pickFieldsToHash), and stops the Pod when it has run as long as its deadline allows
// (pkg/kubelet/active_deadline.go pastActiveDeadline).
func (o *Object) changesInPlace(e *report.Effect, status map[string]any) {
	var does []string
	if n := restarted(o.Before, o.After, status); n > 0 {
		e.Restarts = 1
		does = append(does, "restarts "+countOf(n, len(images(o.After)))+" in place"+readyMeanwhile(status))
	}
	const field = "activeDeadlineSeconds"
	was, is := object.Child(o.Before, "spec"), object.Child(o.After, "spec")
	if seconds := number(is, field, 0); object.Has(is, field) && !object.Equal(was[field], is[field]) {
		e.Stops = 1
		does = append(does, fmt.Sprintf("stops 1 pod when it has run for %d s (activeDeadlineSeconds)", seconds))
	}
	if len(does) > 0 {
		e.Text, e.Inexact = strings.Join(does, ", "), o.Doubt
	}
}

// countOf counts the containers of a Pod that restart.
func countOf(n, all int) string {
	switch {
	case n < all:
		return fmt.Sprintf("%d of its %d containers", n, all)
	case n == 1:
		return "its container"
	}
	return "its " + english.Count(n, "container")
}

// readyMeanwhile says that a Pod is not ready while a container restarts.
func readyMeanwhile(status map[string]any) string {
	if isReady(status) {
		return ": it is not ready meanwhile"
	}
	return "; it is not ready now"
}

// restarted counts the containers of a Pod that restart because their image changes. That includes one whose policy would not restart it,
// but not one that has already ended under such a policy. An init container that is not a sidecar does not run again (kubernetes v1.36.3
// pkg/kubelet/kuberuntime/kuberuntime_manager.go computePodActions, kuberuntime_container.go computeInitContainerActions).
func restarted(before, after, status map[string]any) int {
	is, n := images(after), 0
	for name, was := range images(before) {
		if image, stays := is[name]; stays && !reflect.DeepEqual(image, was) && !isOver(after, status, name) {
			n++
		}
	}
	return n
}

// images returns the images of the containers of a Pod that run as long as it does: its containers and sidecars, by their names.
func images(m map[string]any) map[string]any {
	out, spec := map[string]any{}, object.Child(m, "spec")
	for _, c := range longRunning(spec) {
		if name, ok := c["name"].(string); ok {
			out[name] = c["image"]
		}
	}
	return out
}

// keepsContainers reports whether some containers of a Pod keep running while others restart.
func (o *Object) keepsContainers() bool {
	return restarted(o.Before, o.After, object.Child(o.Live, "status")) < len(images(o.After))
}

// isOver reports whether a container of a Pod has ended and its policy does not start it again.
func isOver(m, status map[string]any, name string) bool {
	if policy := object.Child(m, "spec")["restartPolicy"]; policy == nil || policy == "Always" {
		return false
	}
	for _, c := range object.Items(status, "containerStatuses") {
		if c["name"] == name {
			return object.Has(object.Child(c, "state"), "terminated")
		}
	}
	return false
}

// isGated reports whether scheduling gates keep a Pod from being scheduled.
func isGated(m map[string]any) bool {
	return len(object.Items(object.Child(m, "spec"), "schedulingGates")) > 0
}

// customWorkload returns the effect of the write of a custom resource that has pod templates, such as a Rollout of Argo or a CloneSet of
// OpenKruise, or nil if it leaves them as they are. Only its controller knows which pods it keeps for a template, and how it replaces them.
func customWorkload(o *Object) *report.Effect {
	if !o.isUnknown() {
		return nil
	}
	e := &report.Effect{Inexact: "only the controller of this kind knows"}
	switch {
	case o.After == nil:
		e.Text = "its pods may stop"
	case object.Equal(podTemplates(o.Before["spec"]), podTemplates(o.After["spec"])):
		e.Text = "scales to 0, and its pods may stop"
	default:
		e.Text = "its pods may restart, and be down meanwhile"
	}
	return e
}

// isUnknown reports whether an object is a custom resource with pod templates whose pods the write may restart or stop: the templates
// change, no replicas are left, or the object is deleted.
func (o *Object) isUnknown() bool {
	if !o.Action.Writes() || o.runsPods() || o.Before == nil {
		return false
	}
	before := podTemplates(o.Before["spec"])
	if len(before) == 0 {
		return false
	}
	return o.After == nil || !object.Equal(before, podTemplates(o.After["spec"])) || replicas(o.Before) > 0 && replicas(o.After) == 0
}

// podTemplates returns the pod templates in a value, wherever a custom resource has them: maps whose spec has containers.
func podTemplates(v any) []any {
	var out []any
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			out = append(out, podTemplates(item)...)
		}
	case map[string]any:
		if len(object.Items(object.Child(v, "spec"), "containers")) > 0 {
			return []any{v}
		}
		for _, name := range object.SortedKeys(v) {
			out = append(out, podTemplates(v[name])...)
		}
	}
	return out
}

// job returns the effect of the write of a Job. Its template cannot change, so a Job never runs again unless it is created again.
func job(o *Object) *report.Effect {
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

// started returns the effect of a Job that starts pods, or nil if it starts none.
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
	return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == "True"
	})
}

// cronJob returns the effect of the write of a CronJob: when it runs next, and what happens to the Jobs that run.
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
	e := &report.Effect{Text: "runs next"}
	if o.Before == nil {
		e.Text = "runs first"
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

// nextRun adds to the text when a CronJob runs next. If anything except its schedule changes, the controller looks at it at once, and
// makes up for a run that was due. After a change of the schedule, it waits for the next time.
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
	next := s.Next(in.Now.In(zone)) // zero if the schedule is not due within five years
	if next.IsZero() {
		e.Text, e.Inexact = "never runs: no day matches schedule "+after.Spec.Schedule, ""
		return
	}
	if e.Text += " on " + next.Format("2006-01-02 at 15:04 MST"); missed {
		e.Text += ", or earlier, because a run was due by the new schedule since the last one"
	}
}

// missed reports whether a run was due since the last one and is not too late.
func (in Input) missed(live, after batchv1.CronJob, s *cron.SpecSchedule, zone *time.Location) bool {
	last := live.CreationTimestamp.Time
	if live.Status.LastScheduleTime != nil {
		last = live.Status.LastScheduleTime.Time
	}
	if deadline := after.Spec.StartingDeadlineSeconds; deadline != nil {
		if earliest := in.Now.Add(-time.Duration(*deadline) * time.Second); earliest.After(last) {
			last = earliest
		}
	}
	due := s.Next(last.In(zone))
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

// parseSchedule reads a schedule with the library of the CronJob controller (kubernetes v1.36.3 pkg/controller/cronjob/utils.go
// mostRecentScheduleTime). It refuses one with @every, which counts from the last run, and one with a time zone of its own: the API server
// accepts none, and the library panics on some.
func parseSchedule(text string) (*cron.SpecSchedule, error) {
	if strings.Contains(text, "TZ") {
		return nil, fmt.Errorf("schedule %q has a time zone", text)
	}
	parsed, err := cron.ParseStandard(text)
	if err != nil {
		return nil, err
	}
	s, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, fmt.Errorf("schedule %q counts from the last run", text)
	}
	return s, nil
}

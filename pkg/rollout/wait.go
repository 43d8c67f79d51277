package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

const (
	// DefaultTimeout bounds the wait if Options names none. helm upgrade --wait has the same (helm v3.22.0 cmd/helm/upgrade.go newUpgradeCmd).
	DefaultTimeout = 5 * time.Minute
	// defaultInterval is the time between two looks.
	defaultInterval = 2 * time.Second
	// lookTimeout bounds the requests of one look, so that a slow answer does not delay the other objects.
	lookTimeout = 15 * time.Second
	// inFlight is the number of objects that one look reads at the same time.
	inFlight = 8
)

// Cluster is what a wait reads. Its errors say which resource could not be read and why.
type Cluster interface {
	// Get reads an object. It returns nil if the object does not exist.
	Get(ctx context.Context, ref object.Ref) (map[string]any, error)
	// Select returns the objects of a resource in a namespace that the options select.
	Select(ctx context.Context, of schema.GroupVersionResource, namespace string, options metav1.ListOptions) ([]map[string]any, error)
	// Log returns the last lines of a container's log. If previous is set, it is the log of the instance that ran before the current one.
	Log(ctx context.Context, namespace, pod, container string, previous bool, lines int) (string, error)
}

// Options says how long to wait, and what to show meanwhile.
type Options struct {
	// Timeout bounds the wait for each object; zero means DefaultTimeout. Wait waits for all objects at the same time.
	Timeout time.Duration
	// Interval is the time between two looks; zero means two seconds.
	Interval time.Duration
	// Scrub removes secrets from a text of the cluster, as threeway.Comparison.Scrub does; nil leaves the text as it is.
	Scrub func(text string) string
	// Show is called after each look with the states of all objects, one call at a time. It may keep them. It may be nil.
	Show func(states []State)
}

// State is how far one object is.
type State struct {
	Ref object.Ref
	report.Rollout
	// News reports that the object has a problem that no earlier state had.
	News bool
}

// Wait waits until each object is as it should be or has failed for good, and returns the state of each in the order of refs. All that are
// ready are so at the same look. When the timeout is over or ctx ends, Wait returns how far they are: report.RolloutTimedOut or
// report.RolloutInterrupted, and report.RolloutReady for those that were ready when they were last read. Unread of a state names what could
// not be read. That is not an error, because the next look may be able to read it.
func Wait(ctx context.Context, c Cluster, refs []object.Ref, o Options) []State {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Interval <= 0 {
		o.Interval = defaultInterval
	}
	w := &wait{Options: o, cluster: c}
	for _, ref := range refs {
		w.objects = append(w.objects, &watched{ref: ref, known: map[string]bool{}})
	}
	within, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	for within.Err() == nil && !w.isDone() {
		w.look(within)
		if w.Show != nil {
			w.Show(w.states())
		}
		if !w.isDone() {
			select {
			case <-within.Done():
			case <-time.After(o.Interval):
			}
		}
	}
	w.end(ctx)
	return w.states()
}

// wait is one wait.
type wait struct {
	Options
	cluster Cluster
	objects []*watched
}

// watched is one object under watch, with its texts in clear.
type watched struct {
	ref object.Ref
	report.Rollout
	problem problem
	// log is the end of the log of the problem's container, which logOf identifies.
	log, logOf string
	// known has the keys of the problems so far, and isNew reports that the last look found another problem.
	known map[string]bool
	isNew bool
	// hasBegun is set for a Job that was ready. It may be gone at a later look because of its ttlSecondsAfterFinished.
	hasBegun bool
}

// isDone reports whether nothing remains to wait for.
func (w *wait) isDone() bool {
	return !slices.ContainsFunc(w.objects, func(o *watched) bool { return o.Status == "" })
}

// look looks at each object that is not done. If then all are done, it also looks again at those that were ready at an earlier look: a
// container may crash minutes after its pod was available. Until that moment an earlier answer does not matter, so it costs no request.
func (w *wait) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	var ready []*watched
	for _, o := range w.objects {
		o.isNew = false // no object has news before it is read
		if o.Status == report.RolloutReady {
			ready = append(ready, o)
		}
	}
	r := &reader{cluster: w.cluster}
	w.each(func(o *watched) { o.look(ctx, r) })
	if w.isDone() {
		for _, o := range ready {
			o.Status = "" // also if the object cannot be read now: then nobody knows whether it is ready
		}
		w.each(func(o *watched) { o.look(ctx, r) })
	}
}

// each calls read for the objects that are not done, several at the same time.
func (w *wait) each(read func(o *watched)) {
	var group errgroup.Group
	group.SetLimit(inFlight)
	for _, o := range w.objects {
		if o.Status == "" {
			group.Go(func() error {
				read(o)
				return nil
			})
		}
	}
	_ = group.Wait() // no object returns an error
}

// states returns what may be shown of each object.
func (w *wait) states() []State {
	states := make([]State, len(w.objects))
	for i, o := range w.objects {
		states[i] = o.state(w.Scrub)
	}
	return states
}

// end gives a status to the objects that are not done. After the timeout it reads their logs once more, because the end of a container's
// log shows why it is not ready. After an interrupt it reads nothing.
func (w *wait) end(ctx context.Context) {
	if ctx.Err() == nil && !w.isDone() {
		last, cancel := context.WithTimeout(ctx, logTimeout)
		defer cancel()
		w.each(func(o *watched) {
			o.logOf = ""
			o.readLog(last, w.cluster)
		})
	}
	for _, o := range w.objects {
		o.isNew = false
		switch {
		case o.Status != "":
		case errors.Is(ctx.Err(), context.Canceled):
			o.Status = report.RolloutInterrupted
		default:
			o.Status = report.RolloutTimedOut
		}
	}
}

// judgement says whether an object is as it should be.
type judgement struct {
	isReady bool
	// hasEnded reports that the object will not become ready by itself any more.
	hasEnded bool
	message  string
}

// judge returns whether an object is as it should be. The package comment names the differences from kstatus.
func judge(u *unstructured.Unstructured) (j judgement) {
	// kstatus panics if a field has an unexpected type, and an API server may answer with any.
	defer func() {
		if p := recover(); p != nil {
			j = judgement{message: fmt.Sprint("its status cannot be read: ", p)}
		}
	}()
	kind := u.GroupVersionKind().GroupKind().String()
	if paused, _, _ := unstructured.NestedBool(u.Object, "spec", "paused"); kind == "Deployment.apps" && paused {
		return judgement{isReady: true, message: "paused: nothing rolls out until it is resumed"}
	}
	result, err := status.Compute(forKstatus(u, kind))
	if err != nil {
		return judgement{message: "its status cannot be read: " + err.Error()}
	}
	if kind == "ReplicationController" {
		result.Message = strings.Replace(result.Message, "ReplicaSet", kind, 1) // see forKstatus
	}
	phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
	isFailedPod := kind == "Pod" && phase == "Failed"
	return judgement{
		isReady:  result.Status == status.CurrentStatus && !isFailedPod,
		hasEnded: isFailedPod || kind == "Job.batch" && result.Status == status.FailedStatus,
		message:  result.Message,
	}
}

// forKstatus returns an object for kstatus. In a DaemonSet with the strategy OnDelete, it pretends that all pods have the current
// template, because the controller does not replace them. A ReplicationController becomes a ReplicaSet, which has the same status:
// kstatus has no rule for a ReplicationController, and takes an object without a rule for ready (fluxcd/cli-utils v1.2.2
// pkg/kstatus/status/core.go GetLegacyConditionsFn).
func forKstatus(u *unstructured.Unstructured, kind string) *unstructured.Unstructured {
	if kind == "ReplicationController" {
		set := u.DeepCopy()
		set.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"})
		return set
	}
	strategy, _, _ := unstructured.NestedString(u.Object, "spec", "updateStrategy", "type")
	wanted, known, _ := unstructured.NestedInt64(u.Object, "status", "desiredNumberScheduled")
	if kind != "DaemonSet.apps" || strategy != "OnDelete" || !known {
		return u
	}
	updated := u.DeepCopy()
	_ = unstructured.SetNestedField(updated.Object, wanted, "status", "updatedNumberScheduled")
	return updated
}

// isObserved reports whether the controller has seen the current object. Until then, status and pods belong to an earlier state.
func isObserved(u *unstructured.Unstructured) bool {
	observed, known, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	return !known || observed >= u.GetGeneration()
}

// podCounts counts the pods of a workload, or returns nil. No pod counts as updated until the controller has seen the object.
func podCounts(u *unstructured.Unstructured) *report.PodCounts {
	of := func(path ...string) int64 {
		n, _, _ := unstructured.NestedInt64(u.Object, path...)
		return n
	}
	replicas := int64(1)
	if n, set, _ := unstructured.NestedInt64(u.Object, "spec", "replicas"); set {
		replicas = n
	}
	counts := report.PodCounts{Wanted: replicas, Ready: of("status", "readyReplicas")}
	counts.Unavailable = max(0, replicas-of("status", "availableReplicas"))
	switch u.GroupVersionKind().GroupKind().String() {
	case "Deployment.apps", "StatefulSet.apps":
		counts.Updated = of("status", "updatedReplicas")
	case "ReplicaSet.apps", "ReplicationController":
		counts.Updated = of("status", "replicas")
	case "DaemonSet.apps":
		counts = report.PodCounts{
			Wanted: of("status", "desiredNumberScheduled"), Updated: of("status", "updatedNumberScheduled"),
			Ready: of("status", "numberReady"), Unavailable: of("status", "numberUnavailable"),
		}
	default:
		return nil
	}
	if !isObserved(u) {
		counts.Updated = 0
	}
	return &counts
}

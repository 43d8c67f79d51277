package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// podObservation is what happened to the pods of one workload between two moments.
type podObservation struct {
	// Gone counts the pods that existed at the first moment and not at the second, Created those that exist only at the second.
	Gone, Created int
	// LeastReady is the least number of pods that were ready at a time, both moments included. A pod that is being deleted is not ready.
	LeastReady int
}

// workloadLabel is the label of pods that names their workload, releaseLabel the one that names their release.
const (
	workloadLabel = "app"
	releaseLabel  = "release"
)

// podObserver follows the pods of a release with a watch. The API server sends every change of a pod once and in order, so the observer
// misses no state of a workload, however short.
type podObserver struct {
	pods    typedcorev1.PodInterface
	options metav1.ListOptions
	end     context.CancelFunc
	ended   sync.WaitGroup

	lock sync.Mutex
	// before and now are the pods by uid.
	before, now map[types.UID]*corev1.Pod
	least       map[string]int
	failed      error
}

// observePods begins to follow the pods of a release.
func observePods(ctx context.Context, client kubernetes.Interface, namespace, release string) (*podObserver, error) {
	o := &podObserver{
		pods: client.CoreV1().Pods(namespace), options: metav1.ListOptions{LabelSelector: releaseLabel + "=" + release},
		now: map[types.UID]*corev1.Pod{}, least: map[string]int{},
	}
	list, err := o.pods.List(ctx, o.options)
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		o.now[list.Items[i].UID] = &list.Items[i]
	}
	o.before = maps.Clone(o.now)
	for _, pod := range o.before {
		name := pod.Labels[workloadLabel]
		o.least[name] = o.ready(name)
	}
	options := o.options
	options.ResourceVersion = list.ResourceVersion
	ctx, o.end = context.WithCancel(ctx)
	changes, err := o.pods.Watch(ctx, options)
	if err != nil {
		o.end()
		return nil, err
	}
	o.ended.Go(func() {
		for change := range changes.ResultChan() {
			o.follow(change)
		}
		if ctx.Err() == nil {
			o.follow(watch.Event{Type: watch.Error})
		}
	})
	return o, nil
}

// follow takes one change of the watch.
func (o *podObserver) follow(change watch.Event) {
	o.lock.Lock()
	defer o.lock.Unlock()
	pod, ok := change.Object.(*corev1.Pod)
	switch {
	case !ok:
		o.failed = fmt.Errorf("the watch of pods ended: %v", change)
		return
	case change.Type == watch.Deleted:
		delete(o.now, pod.UID)
	default:
		o.now[pod.UID] = pod
	}
	name := pod.Labels[workloadLabel]
	if least, known := o.least[name]; !known {
		o.least[name] = 0 // it had no pods before
	} else {
		o.least[name] = min(least, o.ready(name))
	}
}

// ready counts the ready pods of a workload.
func (o *podObserver) ready(workload string) int {
	n := 0
	for _, pod := range o.now {
		if pod.Labels[workloadLabel] == workload && isReady(pod) {
			n++
		}
	}
	return n
}

func isReady(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// isQuiet reports whether a workload has as many pods as wanted, all of them ready, and none that is being deleted.
func (o *podObserver) isQuiet(workload string, wanted int) (bool, error) {
	o.lock.Lock()
	defer o.lock.Unlock()
	all := 0
	for _, pod := range o.now {
		if pod.Labels[workloadLabel] == workload {
			all++
		}
	}
	return all == wanted && o.ready(workload) == wanted, o.failed
}

// stop ends the watch when it has caught up with the API server, and returns what happened to the pods of each workload.
func (o *podObserver) stop(ctx context.Context) (map[string]podObservation, error) {
	defer o.ended.Wait()
	defer o.end()
	err := poll(ctx, "the watch of pods to catch up", func() (bool, error) {
		list, err := o.pods.List(ctx, o.options)
		if err != nil {
			return false, err
		}
		o.lock.Lock()
		defer o.lock.Unlock()
		same := len(list.Items) == len(o.now)
		for _, pod := range list.Items {
			known := o.now[pod.UID]
			same = same && known != nil && known.ResourceVersion == pod.ResourceVersion
		}
		return same, o.failed
	})
	if err != nil {
		return nil, err
	}
	o.lock.Lock()
	defer o.lock.Unlock()
	return o.observations(), nil
}

// observations compares the pods now with those before.
func (o *podObserver) observations() map[string]podObservation {
	out := map[string]podObservation{}
	for name, least := range o.least {
		out[name] = podObservation{LeastReady: least}
	}
	count := func(pods, others map[types.UID]*corev1.Pod, add func(*podObservation)) {
		for uid, pod := range pods {
			if _, stays := others[uid]; stays {
				continue
			}
			seen := out[pod.Labels[workloadLabel]]
			add(&seen)
			out[pod.Labels[workloadLabel]] = seen
		}
	}
	count(o.before, o.now, func(seen *podObservation) { seen.Gone++ })
	count(o.now, o.before, func(seen *podObservation) { seen.Created++ })
	return out
}

// waitSettled waits until the controller of a workload has nothing left to do, by its status and its pods.
func (o *podObserver) waitSettled(ctx context.Context, on *cluster, r ref) error {
	var last string
	err := poll(ctx, "the roll-out of "+r.resource+"/"+r.name, func() (bool, error) {
		obj, err := on.get(ctx, r)
		if err != nil {
			return false, err
		}
		state := newRollout(obj.Object)
		pods := state.wanted
		if state.paused {
			pods = state.existing
		}
		quiet, err := o.isQuiet(r.name, pods)
		last = fmt.Sprintf("%+v", state)
		return err == nil && quiet && state.settled(), err
	})
	if err != nil {
		return errors.Join(err, errors.New(last))
	}
	return nil
}

// rollout is what the status of a workload says about the work of its controller.
type rollout struct {
	observed bool
	// wanted, existing, ready and available count pods; updated counts the pods of the new template, and must be at least mustUpdate.
	wanted, existing, ready, available, updated, mustUpdate int
	// paused is set for a Deployment whose roll-out waits. It may have stopped half-way, with more pods than wanted.
	paused bool
}

// settled reports whether the controller has nothing left to do. What waits for a person does not count: pods that are updated on
// deletion, those below the partition, and all of a paused Deployment.
func (r rollout) settled() bool {
	if r.paused {
		return r.observed && r.existing >= r.wanted && r.ready == r.existing && r.available == r.existing
	}
	return r.observed && r.existing == r.wanted && r.ready == r.wanted && r.available == r.wanted && r.updated >= r.mustUpdate
}

func newRollout(obj map[string]any) rollout {
	spec, status := child(obj, "spec"), child(obj, "status")
	out := rollout{
		observed: number(child(obj, "metadata"), "generation", 0) == number(status, "observedGeneration", -1),
		wanted:   number(spec, "replicas", 1), existing: number(status, "replicas", 0),
		ready: number(status, "readyReplicas", 0), available: number(status, "availableReplicas", 0),
		updated: number(status, "updatedReplicas", 0),
	}
	strategy := child(spec, "updateStrategy")
	switch kind := fmt.Sprint(obj["kind"]); {
	case kind == "DaemonSet":
		out.wanted, out.existing = number(status, "desiredNumberScheduled", 0), number(status, "currentNumberScheduled", 0)
		out.ready, out.available = number(status, "numberReady", 0), number(status, "numberAvailable", 0)
		if out.updated = number(status, "updatedNumberScheduled", 0); strategy["type"] != "OnDelete" {
			out.mustUpdate = out.wanted
		}
	case kind == "Deployment":
		out.paused, out.mustUpdate = spec["paused"] == true, out.wanted
	case kind == "StatefulSet" && strategy["type"] != "OnDelete" && status["currentRevision"] != status["updateRevision"]:
		out.mustUpdate = max(0, out.wanted-number(child(strategy, "rollingUpdate"), "partition", 0))
	}
	return out
}

// child returns a map in a map; nil if there is none.
func child(m map[string]any, name string) map[string]any {
	out, _ := m[name].(map[string]any)
	return out
}

// number returns an integer in a map, or a default if there is none.
func number(m map[string]any, name string, otherwise int) int {
	if n, ok := m[name].(int64); ok {
		return int(n)
	}
	return otherwise
}

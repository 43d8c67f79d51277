package forecast

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// podGroup is a number of pods of one workload that have the same labels and ports.
type podGroup struct {
	owner    object.Key
	labels   map[string]string
	ports    portNames
	n, ready int
}

// groupOf returns a number of pods of a template.
func groupOf(owner object.Key, template map[string]any, n, ready int) podGroup {
	return podGroup{owner, labelsOf(template), portNamesOf(template), n, ready}
}

// population is what runs in a namespace: now, right after the writes, which change the labels of a Pod in place, and once the operation
// is over. The groups of now and atOnce are the same pods in the same order.
type population struct {
	now, atOnce, then []podGroup
	// why says why there may be more; empty if there are none.
	why string
}

// population returns the pods of a namespace. If they could not be listed, it has those that the workloads of the release should have.
func (in *prediction) population(namespace string) population {
	var out population
	var listed []pod
	if listed, out.why = in.pods(namespace); out.why == "" {
		for _, p := range listed {
			out.now = append(out.now, groupOf(p.owner, p.object, 1, p.ready))
		}
	} else {
		out.now = in.wanted(namespace)
	}
	for _, g := range out.now {
		o := in.find(g.owner)
		if o != nil && o.isPod() && o.After != nil {
			g.labels = labelsOf(o.After)
		}
		out.atOnce = append(out.atOnce, g)
		if o == nil || in.effects[g.owner] == nil || !o.runsPods() {
			out.then = append(out.then, g)
		}
	}
	for i := range in.Objects {
		if o := &in.Objects[i]; o.Namespace == namespace && in.effects[o.Key] != nil && o.runsPods() {
			out.then = append(out.then, rolledOut(o, in.effects[o.Key], out.atOnce)...)
		}
	}
	return out
}

// wanted returns the pods that the workloads of the release should have.
func (in Input) wanted(namespace string) []podGroup {
	var out []podGroup
	for i := range in.Objects {
		o := &in.Objects[i]
		if o.Before == nil || o.Namespace != namespace {
			continue
		}
		if w, is := workloadOf(o); is {
			out = append(out, groupOf(o.Key, template(o.Before), w.before, w.ready))
		} else if status := object.Child(o.Live, "status"); o.isPod() && !hasEnded(status) {
			out = append(out, groupOf(o.Key, o.Before, 1, readyPods(status)))
		}
	}
	return out
}

// rolledOut returns the pods of a workload once the operation is over: some of those that it has, and new ones of the new template.
func rolledOut(o *Object, effect *report.Effect, now []podGroup) []podGroup {
	var out []podGroup
	gone := effect.Restarts + effect.Stops
	for _, g := range now {
		if g.owner != o.Key {
			continue
		}
		stays := max(0, g.n-gone)
		gone -= g.n - stays
		if stays > 0 {
			out = append(out, podGroup{g.owner, g.labels, g.ports, stays, min(g.ready, stays)})
		}
	}
	if started := effect.Restarts + effect.Starts; started > 0 && o.After != nil {
		out = append(out, groupOf(o.Key, templateIn(o.Key, o.After), started, started))
	}
	return out
}

// matched counts those pods that a selector selects, and how many of them are ready.
func matched(groups []podGroup, s labels.Selector) (n, ready int) {
	for _, g := range groups {
		if s.Matches(labels.Set(g.labels)) {
			n, ready = n+g.n, ready+g.ready
		}
	}
	return n, ready
}

// readyPods returns 1 if the status of a pod says that it is ready, else 0.
func readyPods(status map[string]any) int {
	if isReady(status) {
		return 1
	}
	return 0
}

// simpleSelector returns the selector of a Service or a ReplicationController. An empty one selects nothing.
func simpleSelector(m map[string]any) labels.Selector {
	if len(m) == 0 {
		return labels.Nothing()
	}
	return labels.SelectorFromSet(texts(m))
}

// labelSelector returns the selector of a policy. One that is empty or absent selects everything, as long as the policy exists.
func labelSelector(spec map[string]any, field string) labels.Selector {
	if spec == nil {
		return labels.Nothing()
	}
	s := decoded[metav1.LabelSelector](object.Child(spec, field))
	out, err := metav1.LabelSelectorAsSelector(&s)
	if err != nil {
		return labels.Nothing()
	}
	return out
}

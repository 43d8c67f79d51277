package forecast

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// podGroup is a number of pods of one workload that have the same labels.
type podGroup struct {
	owner    object.Key
	labels   map[string]string
	n, ready int
}

// population is what runs in a namespace, now and once the operation is over.
type population struct {
	now, then []podGroup
	// why says why there may be more; empty if there are none.
	why string
}

// population returns the pods of a namespace. If they could not be listed, it has those that the workloads of the release should have.
func (in *prediction) population(namespace string) population {
	var out population
	var listed []pod
	if listed, out.why = in.pods(namespace); out.why == "" {
		for _, p := range listed {
			g := podGroup{p.owner, p.labels, 1, 0}
			if p.ready {
				g.ready = 1
			}
			out.now = append(out.now, g)
		}
	} else {
		out.now = in.wanted(namespace)
	}
	for _, g := range out.now {
		if o := in.find(g.owner); o == nil || in.effects[g.owner] == nil || !o.runsPods() {
			out.then = append(out.then, g)
		}
	}
	for i := range in.Objects {
		if o := &in.Objects[i]; o.Namespace == namespace && in.effects[o.Key] != nil && o.runsPods() {
			out.then = append(out.then, rolledOut(o, in.effects[o.Key], out.now)...)
		}
	}
	return out
}

// wanted returns the pods that the workloads of the release should have.
func (in Input) wanted(namespace string) []podGroup {
	var out []podGroup
	for i := range in.Objects {
		o := &in.Objects[i]
		w, is := workloadOf(o)
		if is && o.Before != nil && o.Namespace == namespace {
			out = append(out, podGroup{o.Key, labelsOf(template(o.Before)), w.before, w.ready})
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
			out = append(out, podGroup{g.owner, g.labels, stays, min(g.ready, stays)})
		}
	}
	if started := effect.Restarts + effect.Starts; started > 0 && o.After != nil {
		out = append(out, podGroup{o.Key, labelsOf(templateIn(o.Key, o.After)), started, started})
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

package forecast

import (
	"fmt"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// ingress returns the effect of the write of an Ingress: the hosts and paths that it no longer serves.
func (in Input) ingress(o *Object) *report.Effect {
	spec, desired := object.Child(o.Before, "spec"), object.Child(o.After, "spec")
	clauses := gone("route", routes(spec), routes(desired))
	if old := spec["ingressClassName"]; o.After != nil && old != nil && !reflect.DeepEqual(old, desired["ingressClassName"]) {
		clauses = append(clauses, fmt.Sprintf("leaves ingress class %v: another controller serves it, or none", old))
	}
	return withClauses(&report.Effect{}, clauses)
}

// routes returns the hosts and paths that an Ingress serves.
func routes(spec map[string]any) []string {
	var out []string
	if spec["defaultBackend"] != nil {
		out = append(out, "the default backend")
	}
	for _, rule := range object.Items(spec, "rules") {
		host, _ := rule["host"].(string)
		if host == "" {
			host = "*"
		}
		for _, path := range object.Items(object.Child(rule, "http"), "paths") {
			text, _ := path["path"].(string)
			out = append(out, host+text)
		}
	}
	return out
}

// gone returns a clause about what is in one list and no longer in another, or none if there is nothing.
func gone(noun string, before, after []string) []string {
	missing := object.Filter(before, func(text string) bool { return !slices.Contains(after, text) })
	slices.Sort(missing)
	missing = slices.Compact(missing)
	if len(missing) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s %s: %s", english.Count(len(missing), noun), verb(len(missing), "vanishes", "vanish"), firstNames(missing))}
}

// httpRoute returns the effect of the write of an HTTPRoute: the host names, paths and gateways that it no longer has.
func (in Input) httpRoute(o *Object) *report.Effect {
	spec, desired := object.Child(o.Before, "spec"), object.Child(o.After, "spec")
	clauses := gone("host name", object.Texts(spec["hostnames"]), object.Texts(desired["hostnames"]))
	clauses = append(clauses, gone("path", matches(spec), matches(desired))...)
	clauses = append(clauses, gone("gateway", parents(spec), parents(desired))...)
	return withClauses(&report.Effect{}, clauses)
}

// matches returns the paths that an HTTPRoute has rules for.
func matches(spec map[string]any) []string {
	var out []string
	for _, rule := range object.Items(spec, "rules") {
		for _, match := range object.Items(rule, "matches") {
			if value, ok := object.Child(match, "path")["value"].(string); ok {
				out = append(out, value)
			}
		}
	}
	return out
}

// parents returns the gateways that an HTTPRoute is attached to.
func parents(spec map[string]any) []string {
	var out []string
	for _, ref := range object.Items(spec, "parentRefs") {
		if name, ok := ref["name"].(string); ok {
			out = append(out, name)
		}
	}
	return out
}

// networkPolicy returns the effect of the write of a NetworkPolicy on the pods that it applies to.
func (in *prediction) networkPolicy(o *Object) *report.Effect {
	spec, desired := object.Child(o.Before, "spec"), object.Child(o.After, "spec")
	if object.Equal(spec, desired) || !in.hasPods(o.Namespace) {
		return nil
	}
	p := in.population(o.Namespace)
	before, _ := matched(p.now, labelSelector(spec, "podSelector"))
	after, _ := matched(p.then, labelSelector(desired, "podSelector"))
	e := &report.Effect{Inexact: p.why}
	switch {
	case o.Before == nil:
		e.Text = "restricts the traffic of " + english.Count(after, "pod")
	case o.After == nil:
		e.Text = "no longer restricts the traffic of " + english.Count(before, "pod")
	case !object.Equal(spec["podSelector"], desired["podSelector"]):
		e.Text = fmt.Sprintf("restricts the traffic of %s, before %d", english.Count(after, "pod"), before)
	default:
		e.Text = "changes what traffic " + english.Count(after, "pod") + " may have"
	}
	if before == 0 && after == 0 && p.why == "" {
		return nil
	}
	return e
}

// endpointSlice returns the effect of the write of an EndpointSlice: the addresses that it no longer has.
func (in Input) endpointSlice(o *Object) *report.Effect {
	return withClauses(&report.Effect{}, gone("endpoint", endpoints(o.Before), endpoints(o.After)))
}

// endpoints returns the addresses of an EndpointSlice.
func endpoints(m map[string]any) []string {
	var out []string
	for _, endpoint := range object.Items(m, "endpoints") {
		out = append(out, object.Texts(endpoint["addresses"])...)
	}
	return out
}

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

// population is what runs in a namespace: now, right after the writes, which change the labels of Pods in place, and once the operation
// is over. The groups of now and atOnce are the same pods in the same order.
type population struct {
	now, atOnce, then []podGroup
	// why says why there may be more pods. It is empty if there are none.
	why string
}

// population returns the pods of a namespace, or the pods that the workloads of the release should have if they could not be listed.
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

// rolledOut returns the pods of a workload once the operation is over: some of its present pods, and new ones with the new template.
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

// matched counts the pods that a selector selects, and how many of them are ready.
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

// labelSelector returns the selector of a NetworkPolicy. An empty or absent one selects everything, as long as the policy exists.
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

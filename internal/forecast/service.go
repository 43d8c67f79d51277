package forecast

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// service returns the effect of the operation on a Service: how many pods it selects, and which addresses and ports it gives up. The
// pods of a Service that is not written may lose the labels that it selects.
func (in *prediction) service(o *Object) *report.Effect {
	if o.Before == nil {
		return nil
	}
	e := &report.Effect{}
	before, after := decoded[corev1.Service](o.Before), decoded[corev1.Service](o.After)
	if len(before.Spec.Selector) > 0 && !isExternal(before) && (o.After == nil || !isExternal(after)) {
		in.selects(e, o)
		withClauses(e, in.reaches(e, o, before, after))
	}
	given := append(addressesGivenUp(o, before, after), portsGone(before, after, o.After != nil)...)
	return withClauses(e, given)
}

// addNotes adds to the effects on workloads what they mean for a Service that is not written: it may not be in the report, but they are. A
// Pod whose labels change may have no effect yet.
func (in *prediction) addNotes(workloads []object.Key, service *Object, note string) {
	for _, key := range workloads {
		switch e := in.effects[key]; {
		case service.Action.Writes():
		case e != nil:
			e.Notes = append(e.Notes, note)
		default:
			in.effects[key] = &report.Effect{Text: note}
		}
	}
}

// withClauses adds clauses to an effect. The first becomes its text if it has none.
func withClauses(e *report.Effect, clauses []string) *report.Effect {
	if e.Text == "" && len(clauses) > 0 {
		e.Text, clauses = clauses[0], clauses[1:]
	}
	e.Notes = append(e.Notes, clauses...)
	if e.Text == "" {
		return nil
	}
	return e
}

func isExternal(s corev1.Service) bool { return s.Spec.Type == corev1.ServiceTypeExternalName }

// selects says how many pods a Service selects before, right after and long after the write, if that changes for any other reason than
// their number.
func (in *prediction) selects(e *report.Effect, o *Object) {
	old, desired := selectorIn(o.Before), selectorIn(o.After)
	changed := !object.Equal(old, desired)
	selector := simpleSelector(desired)
	left := in.leaving(o, func(template map[string]any) bool { return selector.Matches(labels.Set(labelsOf(template))) })
	if !changed && len(left) == 0 {
		return
	}
	p := in.population(o.Namespace)
	before, ready := matched(p.now, simpleSelector(old))
	atOnce, _ := matched(p.atOnce, selector)
	after, _ := matched(p.then, selector)
	if e.Inexact = p.why; after == before && samePods(p, simpleSelector(old), selector) {
		if p.why != "" {
			e.Text = unknownPods(o)
		}
		return
	}
	e.Downtime = ready > 0 && (atOnce == 0 || after == 0)
	switch {
	case o.After == nil && before > 0:
		e.Text = fmt.Sprintf("nothing reaches its %s through it any more", english.Count(before, "pod"))
	case o.After == nil:
	case after == 0 && before > 0 && !changed:
		e.Text = fmt.Sprintf("selects no pod any more, before %d: %s its labels", before, lacking(left[0]))
	case after == 0 && before > 0:
		e.Text = fmt.Sprintf("selects no pod any more, before %d", before)
	case atOnce == 0 && after > 0 && before > 0:
		e.Text = fmt.Sprintf("selects no pod until new ones are ready, then %d, before %d", after, before)
	case after == before:
		e.Text = fmt.Sprintf("selects %s, before %d others", english.Count(after, "pod"), before)
	default:
		e.Text = fmt.Sprintf("selects %s, before %d", english.Count(after, "pod"), before)
	}
	in.addNotes(left, o, named(o.Key)+" "+e.Text)
}

// unknownPods is the effect on a Service that selects no pod of the release, while others could not be listed.
func unknownPods(o *Object) string {
	if o.After == nil {
		return "no pod is reached through it any more"
	}
	return "selects pods by other labels, and pods of other workloads may be among them"
}

// selectorIn returns the selector of a Service.
func selectorIn(m map[string]any) map[string]any {
	return object.Child(object.Child(m, "spec"), "selector")
}

// lacking says which pods lack what a Service asks for.
func lacking(workload object.Key) string {
	if workload.Kind == "Pod" {
		return named(workload) + " lacks"
	}
	return "the new pods of " + named(workload) + " lack"
}

// samePods reports whether one selector selects the pods that the other one selected before the writes.
func samePods(p population, before, after labels.Selector) bool {
	for i := range p.now {
		if before.Matches(labels.Set(p.now[i].labels)) != after.Matches(labels.Set(p.atOnce[i].labels)) {
			return false
		}
	}
	return true
}

// leaving returns the workloads of the release whose new pods a Service does not reach as it reached the old ones. Reached reports whether
// it reaches pods of a template.
func (in *prediction) leaving(o *Object, reached func(template map[string]any) bool) []object.Key {
	var out []object.Key
	for i := range in.Objects {
		w := &in.Objects[i]
		before, after := templateIn(w.Key, w.Before), templateIn(w.Key, w.After)
		if w.Namespace == o.Namespace && in.replaces(w) && before != nil && after != nil && reached(before) && !reached(after) {
			out = append(out, w.Key)
		}
	}
	return out
}

// replaces reports whether a workload gets pods of another template, or is a Pod that changes in place.
func (in *prediction) replaces(w *Object) bool {
	effect := in.effects[w.Key]
	return effect != nil && effect.Restarts > 0 || w.isPod() && w.Action.Writes()
}

// addressesGivenUp returns which addresses a Service gives up: because its type no longer has them, or because it is deleted.
func addressesGivenUp(o *Object, before, after corev1.Service) []string {
	var out []string
	if before.Spec.Type == corev1.ServiceTypeLoadBalancer && after.Spec.Type != corev1.ServiceTypeLoadBalancer {
		for _, ingress := range decoded[corev1.Service](o.Live).Status.LoadBalancer.Ingress {
			out = append(out, "load balancer address "+ingress.IP+ingress.Hostname)
		}
	}
	kept := nodePorts(after)
	for _, port := range nodePorts(before) {
		if !slices.Contains(kept, port) {
			out = append(out, fmt.Sprintf("node port %d", port))
		}
	}
	ip := before.Spec.ClusterIP
	if ip != "" && ip != corev1.ClusterIPNone && !isExternal(before) && (o.After == nil || isExternal(after)) {
		out = append(out, "cluster IP "+ip)
	}
	if len(out) == 0 {
		return nil
	}
	return []string{"gives up " + strings.Join(out, ", ")}
}

// nodePorts returns the node ports of a Service of a type that has them.
func nodePorts(s corev1.Service) []int32 {
	var out []int32
	if s.Spec.Type != corev1.ServiceTypeNodePort && s.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return nil
	}
	for _, port := range s.Spec.Ports {
		if port.NodePort != 0 {
			out = append(out, port.NodePort)
		}
	}
	return out
}

// portsGone returns the ports that a Service no longer has.
func portsGone(before, after corev1.Service, stays bool) []string {
	if !stays {
		return nil
	}
	var gone []string
	for _, port := range before.Spec.Ports {
		same := func(other corev1.ServicePort) bool { return other.Port == port.Port && other.Protocol == port.Protocol }
		if !slices.ContainsFunc(after.Spec.Ports, same) {
			gone = append(gone, fmt.Sprintf("%d/%s", port.Port, port.Protocol))
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return []string{verb(len(gone), "port ", "ports ") + strings.Join(gone, ", ") + " " + verb(len(gone), "vanishes", "vanish")}
}

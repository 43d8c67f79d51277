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
	}
	if e.Text != "" && !o.Action.Writes() {
		// A Service that is not written may not be in the report, but the workload is.
		for _, key := range in.leaving(o) {
			in.effects[key].Notes = append(in.effects[key].Notes, named(o.Key)+" "+e.Text)
		}
	}
	given := append(addressesGivenUp(o, before, after), portsGone(before, after, o.After != nil)...)
	return withClauses(e, given)
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
	old, desired := object.Child(object.Child(o.Before, "spec"), "selector"), object.Child(object.Child(o.After, "spec"), "selector")
	changed := !object.Equal(old, desired)
	left := in.leaving(o)
	if !changed && len(left) == 0 {
		return
	}
	p := in.population(o.Namespace)
	before, ready := matched(p.now, simpleSelector(old))
	atOnce, _ := matched(p.now, simpleSelector(desired))
	after, _ := matched(p.then, simpleSelector(desired))
	if e.Inexact = p.why; after == before && samePods(p.now, simpleSelector(old), simpleSelector(desired)) {
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
		e.Text = fmt.Sprintf("selects no pod any more, before %d: the new pods of %s lack its labels", before, named(left[0]))
	case after == 0 && before > 0:
		e.Text = fmt.Sprintf("selects no pod any more, before %d", before)
	case atOnce == 0 && after > 0 && before > 0:
		e.Text = fmt.Sprintf("selects no pod until new ones are ready, then %d, before %d", after, before)
	case after == before:
		e.Text = fmt.Sprintf("selects %s, before %d others", english.Count(after, "pod"), before)
	default:
		e.Text = fmt.Sprintf("selects %s, before %d", english.Count(after, "pod"), before)
	}
}

// unknownPods is the effect on a Service that selects no pod of the release, while others could not be listed.
func unknownPods(o *Object) string {
	if o.After == nil {
		return "no pod is reached through it any more"
	}
	return "selects pods by other labels, and pods of other workloads may be among them"
}

// samePods reports whether two selectors select the same pods.
func samePods(groups []podGroup, a, b labels.Selector) bool {
	return !slices.ContainsFunc(groups, func(g podGroup) bool { return a.Matches(labels.Set(g.labels)) != b.Matches(labels.Set(g.labels)) })
}

// leaving returns the workloads of the release whose new pods a Service with this selector does not select, as it selects the old ones.
func (in *prediction) leaving(o *Object) []object.Key {
	var out []object.Key
	s := simpleSelector(object.Child(object.Child(o.After, "spec"), "selector"))
	for i := range in.Objects {
		w := &in.Objects[i]
		if effect := in.effects[w.Key]; w.Namespace != o.Namespace || effect == nil || effect.Restarts == 0 {
			continue
		}
		before, after := templateIn(w.Key, w.Before), templateIn(w.Key, w.After)
		_, old := matched([]podGroup{{labels: labelsOf(before), n: 1, ready: 1}}, s)
		_, now := matched([]podGroup{{labels: labelsOf(after), n: 1, ready: 1}}, s)
		if old > now {
			out = append(out, w.Key)
		}
	}
	return out
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

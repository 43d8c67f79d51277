package forecast

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// service returns the effect of the operation on a Service: how many pods it selects, and which addresses and ports it gives up.
// Even if the Service is not written, its pods may lose the labels that it selects.
func (in *prediction) service(o *Object) *report.Effect {
	e := &report.Effect{}
	before, after := decoded[corev1.Service](o.Before), decoded[corev1.Service](o.After)
	switch {
	case len(before.Spec.Selector) == 0 || isExternal(before) || isExternal(after): // no controller writes its endpoints
	case o.After != nil && len(after.Spec.Selector) == 0:
		in.leavesEndpoints(e, o)
	default:
		in.selects(e, o)
		withClauses(e, in.reaches(e, o, before, after))
	}
	given := append(addressesGivenUp(o, before, after), portsGone(before, after, o.After != nil)...)
	return withClauses(e, given)
}

// addNotes adds to the effects on workloads what they mean for a Service that is not written: the Service may not be in the report, but
// the workloads are. A Pod whose labels change may have no effect yet.
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

func isExternal(s corev1.Service) bool { return s.Spec.Type == corev1.ServiceTypeExternalName }

// selects adds how many pods a Service selects before, right after and long after the write, unless only the number of pods changes that.
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

// leavesEndpoints adds what becomes of a Service that loses its selector. No controller writes its endpoints any more, so they stay those
// of the pods that it selects now (kubernetes v1.36.3 pkg/controller/endpointslice/endpointslice_controller.go syncService). It reaches
// nothing once the last of these pods has gone.
func (in *prediction) leavesEndpoints(e *report.Effect, o *Object) {
	p, selector := in.population(o.Namespace), simpleSelector(selectorIn(o.Before))
	before, ready := matched(p.now, selector)
	if before == 0 && p.why == "" {
		return
	}
	gone := in.goneOf(p, selector)
	e.Inexact, e.Downtime = p.why, ready > 0 && gone == before
	e.Text = "its endpoints no longer follow its pods"
	if before > 0 {
		e.Text += fmt.Sprintf(" and stay at the %d that %s now", before, verb(before, "runs", "run"))
	}
	switch {
	case gone > 0 && gone == before:
		e.Text += ", and the operation replaces or stops all of them"
	case gone > 0:
		e.Text += fmt.Sprintf(", and the operation replaces or stops %d of them", gone)
	}
}

// goneOf counts the pods of a population that a selector selects now and that the operation replaces or stops. A Pod whose containers
// restart in place keeps its address.
func (in *prediction) goneOf(p population, selector labels.Selector) int {
	gone := map[object.Key]int{}
	for i := range in.Objects {
		o := &in.Objects[i]
		key, e := o.Key, in.effects[o.Key]
		if o.GroupKind().String() == "ScaledObject.keda.sh" && o.Action.Writes() && o.After != nil {
			key, e = targetOf(o, o.After), in.autoscaler(o) // its effect is added after those on Services
		}
		switch {
		case e == nil:
		case o.isPod():
			gone[key] += e.Stops
		default:
			gone[key] += e.Stops + e.Restarts
		}
	}
	n := 0
	for _, g := range p.now {
		if selector.Matches(labels.Set(g.labels)) {
			goes := min(g.n, gone[g.owner])
			gone[g.owner] -= goes
			n += goes
		}
	}
	return n
}

// unknownPods returns the effect on a Service that selects no pod of the release, if other pods could not be listed.
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

// lacking says which pods lack the labels or ports that a Service wants.
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

// leaving returns the workloads of the release whose old pods the Service reaches but whose new pods it does not, or the other way round.
// Reached reports whether it reaches pods of a template.
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
		if _, kept := portLike(after, port); !kept {
			gone = append(gone, fmt.Sprintf("%d/%s", port.Port, port.Protocol))
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return []string{verb(len(gone), "port ", "ports ") + strings.Join(gone, ", ") + " " + verb(len(gone), "vanishes", "vanish")}
}

// portName is the name of a port of a container, and its protocol.
type portName struct{ name, protocol string }

// portNames are the names of the ports of a pod.
type portNames map[portName]bool

// portNamesOf returns the names of the ports of a pod or of a template. A Service finds the port that it names in containers and sidecars
// (k8s.io/endpointslice v0.36.3 utils.go FindPort).
func portNamesOf(template map[string]any) portNames {
	out := portNames{}
	for _, c := range longRunning(object.Child(template, "spec")) {
		for _, port := range object.Items(c, "ports") {
			name, _ := port["name"].(string)
			protocol, _ := port["protocol"].(string)
			out[portName{name, protocol}] = true
		}
	}
	return out
}

// namedTarget returns the name of the container's port that a port of a Service leads to, or false if it leads to a number.
func namedTarget(port corev1.ServicePort) (portName, bool) {
	return portName{port.TargetPort.StrVal, string(port.Protocol)}, port.TargetPort.Type == intstr.String && port.TargetPort.StrVal != ""
}

// losesPort reports whether pods no longer have a port that a Service names.
func losesPort(s corev1.Service, before, after portNames) bool {
	return slices.ContainsFunc(s.Spec.Ports, func(port corev1.ServicePort) bool {
		name, isName := namedTarget(port)
		return isName && before[name] && !after[name]
	})
}

// reaches says which ports of a Service reach fewer pods than it selects, and than before, because containers lack the named port. Such a
// pod has no endpoint for the port (k8s.io/endpointslice v0.36.3 utils.go getEndpointPorts).
func (in *prediction) reaches(e *report.Effect, o *Object, before, after corev1.Service) []string {
	selector := labels.SelectorFromSet(after.Spec.Selector)
	changed := changesReach(o)
	var out []string
	for _, port := range after.Spec.Ports {
		old, kept := portLike(before, port)
		name, isName := namedTarget(port)
		if !kept || !isName {
			continue
		}
		left := in.leaving(o, func(template map[string]any) bool {
			return portNamesOf(template)[name] && selector.Matches(labels.Set(labelsOf(template)))
		})
		if !changed && len(left) == 0 {
			continue
		}
		p := in.population(o.Namespace)
		text, isCut := fewer(port, reachOf(p.now, before, old), reachOf(p.atOnce, after, port), reachOf(p.then, after, port))
		if text != "" {
			out = append(out, text)
			e.Downtime, e.Inexact = e.Downtime || isCut, p.why
			in.addNotes(left, o, named(o.Key)+": "+text)
		}
	}
	return out
}

// changesReach reports whether the write of a Service changes which pods it selects, or which named container port a port leads to.
func changesReach(o *Object) bool {
	before, after := decoded[corev1.Service](o.Before), decoded[corev1.Service](o.After)
	return !object.Equal(selectorIn(o.Before), selectorIn(o.After)) ||
		slices.ContainsFunc(after.Spec.Ports, func(port corev1.ServicePort) bool {
			_, isName := namedTarget(port)
			old, kept := portLike(before, port)
			return kept && isName && old.TargetPort != port.TargetPort
		})
}

// portLike returns the port of a Service with the number and the protocol of another one.
func portLike(s corev1.Service, port corev1.ServicePort) (corev1.ServicePort, bool) {
	for _, other := range s.Spec.Ports {
		if other.Port == port.Port && other.Protocol == port.Protocol {
			return other, true
		}
	}
	return corev1.ServicePort{}, false
}

// reach counts the pods that a Service selects: all of them, those that one of its ports finds, and how many of these are ready.
type reach struct{ selected, found, ready int }

// reachOf returns what a port of a Service reaches.
func reachOf(groups []podGroup, s corev1.Service, port corev1.ServicePort) reach {
	var out reach
	name, isName := namedTarget(port)
	selector := labels.SelectorFromSet(s.Spec.Selector)
	out.selected, _ = matched(groups, selector)
	out.found, out.ready = matched(object.Filter(groups, func(g podGroup) bool { return !isName || g.ports[name] }), selector)
	return out
}

// fewer says how many fewer pods a named target port reaches than before, and whether it reaches no pod for a time. The text is empty if
// it reaches all pods that the Service selects.
func fewer(port corev1.ServicePort, before, atOnce, after reach) (text string, isCut bool) {
	name := port.TargetPort.StrVal
	switch {
	case before.found == 0:
	case after.found == 0 && after.selected > 0:
		return fmt.Sprintf("port %d reaches no pod any more, before %d: no container has a port named %s", port.Port, before.found, name),
			before.ready > 0
	case atOnce.found == 0 && atOnce.selected > 0 && after.found > 0:
		return fmt.Sprintf("port %d reaches no pod until new ones are ready, then %d, before %d: only those have a port named %s",
			port.Port, after.found, before.found, name), before.ready > 0
	case after.found < min(after.selected, before.found):
		return fmt.Sprintf("port %d reaches %s, before %d: the others have no port named %s",
			port.Port, english.Count(after.found, "pod"), before.found, name), false
	}
	return "", false
}

package forecast

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

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

// namedTarget returns the name of the container's port that a port of a Service leads to; false if it leads to a number.
func namedTarget(port corev1.ServicePort) (portName, bool) {
	return portName{port.TargetPort.StrVal, string(port.Protocol)}, port.TargetPort.Type == intstr.String && port.TargetPort.StrVal != ""
}

// losesPort reports whether pods had a port that a Service names, and have it no more.
func losesPort(s corev1.Service, before, after portNames) bool {
	return slices.ContainsFunc(s.Spec.Ports, func(port corev1.ServicePort) bool {
		name, isName := namedTarget(port)
		return isName && before[name] && !after[name]
	})
}

// reaches says which ports of a Service reach fewer pods than it selects, and than before, because containers have no port of the name to
// which the port leads. Such a pod has no endpoint there (k8s.io/endpointslice v0.36.3 utils.go getEndpointPorts).
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

// changesReach reports whether the write of a Service changes which pods it selects, or which named port it leads to.
func changesReach(o *Object) bool {
	return !object.Equal(selectorIn(o.Before), selectorIn(o.After)) ||
		changesTargets(decoded[corev1.Service](o.Before), decoded[corev1.Service](o.After))
}

// changesTargets reports whether a port of a Service leads to a port of the containers of another name.
func changesTargets(before, after corev1.Service) bool {
	return slices.ContainsFunc(after.Spec.Ports, func(port corev1.ServicePort) bool {
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

// reach counts the pods that a Service selects: all of them, those that one of its ports finds, and those of them that are ready.
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

// fewer says what a port that names a port of the containers reaches less than before, and whether it reaches no pod for a time. The text
// is empty if it reaches all pods that the Service selects.
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

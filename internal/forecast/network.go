package forecast

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// ingress returns the effect of the write of an Ingress: the hosts and paths that it no longer serves.
func (in Input) ingress(o *Object) *report.Effect {
	if o.Before == nil {
		return nil
	}
	spec, desired := object.Child(o.Before, "spec"), object.Child(o.After, "spec")
	clauses := gone("route", routes(spec), routes(desired))
	if old := spec["ingressClassName"]; o.After != nil && old != nil && old != desired["ingressClassName"] {
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

// gone returns a clause about what is in one list and no longer in another; none if there is nothing.
func gone(noun string, before, after []string) []string {
	missing := object.Filter(before, func(text string) bool { return !slices.Contains(after, text) })
	slices.Sort(missing)
	missing = slices.Compact(missing)
	if len(missing) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s %s: %s", english.Count(len(missing), noun), verb(len(missing), "vanishes", "vanish"), firstNames(missing))}
}

// httpRoute returns the effect of the write of an HTTPRoute: the host names and paths that vanish, and the gateways that it leaves.
func (in Input) httpRoute(o *Object) *report.Effect {
	if o.Before == nil {
		return nil
	}
	spec, desired := object.Child(o.Before, "spec"), object.Child(o.After, "spec")
	clauses := gone("host name", textsOf(spec["hostnames"]), textsOf(desired["hostnames"]))
	clauses = append(clauses, gone("path", matches(spec), matches(desired))...)
	clauses = append(clauses, gone("gateway", parents(spec), parents(desired))...)
	return withClauses(&report.Effect{}, clauses)
}

// textsOf returns the texts of a list.
func textsOf(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// matches returns the paths for which an HTTPRoute has rules.
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
	if o.Before == nil {
		return nil
	}
	return withClauses(&report.Effect{}, gone("endpoint", endpoints(o.Before), endpoints(o.After)))
}

// endpoints returns the addresses of an EndpointSlice.
func endpoints(m map[string]any) []string {
	var out []string
	for _, endpoint := range object.Items(m, "endpoints") {
		out = append(out, textsOf(endpoint["addresses"])...)
	}
	return out
}

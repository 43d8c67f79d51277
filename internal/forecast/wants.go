package forecast

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// maxWants bounds the requests of a forecast. A release in one namespace wants two or three lists, unless it deletes many definitions.
const maxWants = 16

// unread returns what the forecast lacks: which wanted lists could not be read, and why, each as a clause.
func (in Input) unread(wanted []Want) []string {
	var out []string
	for _, want := range wanted {
		if why := unread(in.Seen[want], want.String()); why != "" && !slices.Contains(out, why) {
			out = append(out, why)
		}
	}
	if in.AutoscalersUnseen && slices.ContainsFunc(in.Objects, func(o Object) bool { return o.Action.Writes() && o.rescales() }) {
		out = append(out, autoscalersUnseen)
	}
	return out
}

// Wants returns the lists that would make the forecast better, the most important first, at most maxWants. It is empty if no write matters.
func Wants(in Input) []Want {
	out := allWants(in)
	return out[:min(len(out), maxWants)]
}

// allWants returns all lists that would make the forecast better, the most important first.
func allWants(in Input) []Want {
	var pods, lost []Want
	for i := range in.Objects {
		o := &in.Objects[i]
		if !o.Action.Writes() {
			continue
		}
		if in.needsPods(o) {
			pods = append(pods, podsIn(o.Namespace))
		}
		switch {
		case o.GroupKind() == schema.GroupKind{Kind: "Namespace"} && o.After == nil:
			pods = append(pods, podsIn(o.Name))
		case o.GroupKind() == schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"} && o.After == nil:
			lost = append(lost, instances(o))
		}
		if gone := lostClaims(o); gone.count > 0 && !gone.retained {
			lost = append(lost, Want{Kind: volumeKind()})
		}
		lost = append(lost, wantsOfClaim(o)...)
	}
	var out []Want
	for _, want := range slices.Concat(pods, together(lost)) {
		if !slices.Contains(out, want) {
			out = append(out, want)
		}
	}
	return out
}

// together returns Wants with several volumes in one list.
func together(wants []Want) []Want {
	isVolume := func(w Want) bool { return w.Kind == volumeKind() }
	if len(object.Filter(wants, isVolume)) < 2 {
		return wants
	}
	others := object.Filter(wants, func(w Want) bool { return !isVolume(w) })
	return append(others, Want{Kind: volumeKind()})
}

// wantsOfClaim returns what to read about a claim: its volume if it is deleted, and its storage class if it grows.
func wantsOfClaim(o *Object) []Want {
	if o.GroupKind() != (schema.GroupKind{Kind: "PersistentVolumeClaim"}) || o.Before == nil {
		return nil
	}
	name, _ := object.Child(o.Live, "spec")["volumeName"].(string)
	if o.After == nil && name != "" {
		return []Want{{Kind: volumeKind(), Name: name}}
	}
	was, is := requested(o.Before), requested(o.After)
	if class := className(o.Before); o.After != nil && class != "" && is.Storage().Cmp(*was.Storage()) > 0 {
		return []Want{storageClass(class)}
	}
	return nil
}

// needsPods reports whether the effect of the write of an object depends on the pods of its namespace.
func (in Input) needsPods(o *Object) bool {
	spec, desired := object.Child(o.Before, "spec"), object.Child(o.After, "spec")
	changes := !object.Equal(spec, desired)
	switch o.GroupKind().String() {
	case "ConfigMap", "Secret":
		return (o.Before == nil || o.After == nil || len(changedData(o)) > 0) && in.hasPods(o.Namespace)
	case "Service":
		return o.Before != nil && len(object.Child(spec, "selector")) > 0 && changesReach(o)
	case "NetworkPolicy.networking.k8s.io", "PodDisruptionBudget.policy":
		return changes && in.hasPods(o.Namespace)
	case "ServiceAccount":
		return o.After == nil
	}
	before, after := templateIn(o.Key, o.Before), templateIn(o.Key, o.After)
	if before == nil || after == nil || object.Equal(before, after) {
		return false
	}
	relabelled, was, is := !object.Equal(labelsOfAny(before), labelsOfAny(after)), portNamesOf(before), portNamesOf(after)
	return slices.ContainsFunc(in.Objects, func(other Object) bool {
		return other.GroupKind() == schema.GroupKind{Kind: "Service"} && other.Namespace == o.Namespace &&
			(relabelled || losesPort(decoded[corev1.Service](other.After), was, is))
	})
}

// labelsOfAny returns the labels of a template as they are.
func labelsOfAny(template map[string]any) any { return object.Child(template, "metadata")["labels"] }

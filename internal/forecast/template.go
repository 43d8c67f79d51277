package forecast

import (
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// comparesUnequal reports whether the controller takes two pod templates for different ones. Both are normal forms, so that spelling and
// defaults do not matter.
//
// The Deployment controller and the API server's strategy of a DaemonSet compare decoded templates, to which 1Gi and 1073741824 are equal.
// A StatefulSet has a revision per encoded template, and the encoding keeps the unit of a quantity.
func (w workload) comparesUnequal(before, after map[string]any) bool {
	if w.Kind == "Deployment" {
		before, after = withoutHash(before), withoutHash(after)
	}
	if object.Equal(before, after) {
		return false
	}
	if w.Kind != "Deployment" && w.Kind != "DaemonSet" {
		return true
	}
	a, decoded := podTemplate(before)
	b, alsoDecoded := podTemplate(after)
	return !decoded || !alsoDecoded || !equality.Semantic.DeepEqual(a, b)
}

// podTemplate decodes a pod template. It returns false if that fails or would take too long.
func podTemplate(m map[string]any) (out corev1.PodTemplateSpec, ok bool) {
	if hasHugeExponent(m) {
		return out, false
	}
	text, err := json.Marshal(m)
	return out, err == nil && json.Unmarshal(text, &out) == nil
}

// hasHugeExponent reports whether a value holds a text that takes forever to decode as a quantity.
func hasHugeExponent(v any) bool {
	switch v := v.(type) {
	case string:
		return kinds.HasHugeExponent(v)
	case []any:
		for _, item := range v {
			if hasHugeExponent(item) {
				return true
			}
		}
	case map[string]any:
		for _, below := range v {
			if hasHugeExponent(below) {
				return true
			}
		}
	}
	return false
}

// withoutHash returns a pod template without the label by which the Deployment controller tells ReplicaSets apart. It ignores that label.
func withoutHash(m map[string]any) map[string]any {
	const label = "pod-template-hash"
	metadata := object.Child(m, "metadata")
	if !object.Has(object.Child(metadata, "labels"), label) {
		return m
	}
	out, meta, labels := maps.Clone(m), maps.Clone(metadata), maps.Clone(object.Child(metadata, "labels"))
	delete(labels, label)
	if meta["labels"] = labels; len(labels) == 0 {
		delete(meta, "labels")
	}
	out["metadata"] = meta
	return out
}

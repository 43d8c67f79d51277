package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// withoutServerFields copies an object without what every write changes.
func withoutServerFields(obj map[string]any) map[string]any {
	out := runtime.DeepCopyJSON(obj)
	if group, _, _ := strings.Cut(fmt.Sprint(obj["apiVersion"]), "/"); !strings.HasSuffix(group, "ex.com") {
		delete(out, "status") // the tests' own kinds have no status subresource, so a write changes their status
	}
	for _, path := range [][]string{
		{"metadata", "managedFields"}, {"metadata", "resourceVersion"}, {"metadata", "generation"},
		{"metadata", "annotations", "deployment.kubernetes.io/revision"},
		{"metadata", "annotations", "deprecated.daemonset.template.generation"},
		// This is the status of autoscalers at version 1.
		{"metadata", "annotations", "autoscaling.alpha.kubernetes.io/conditions"},
		{"metadata", "annotations", "autoscaling.alpha.kubernetes.io/current-metrics"},
	} {
		unstructured.RemoveNestedField(out, path...)
	}
	eachNode(out, func(v any) {
		if m, _ := v.(map[string]any); m["containers"] != nil {
			delete(m, "serviceAccount") // the server copies serviceAccountName into it
		}
	})
	if out["kind"] == "Pod" {
		unstructured.RemoveNestedField(out, "spec", "nodeName") // a scheduler sets it at any time
	}
	return out
}

// withoutEmpty removes empty values, so that a removed last item leaves no trace.
func withoutEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range v {
			if kept := withoutEmpty(value); !isEmpty(kept) {
				out[name] = kept
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutEmpty(v[i])
		}
		return out
	}
	return v
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// containsAll reports whether got has everything of want; the server may have added defaults.
func containsAll(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		m, _ := got.(map[string]any)
		for name, value := range want {
			if !containsAll(value, m[name]) {
				return false
			}
		}
		return true
	case []any:
		list, _ := got.([]any)
		if len(list) != len(want) {
			return false
		}
		for i := range want {
			if !containsAll(want[i], list[i]) {
				return false
			}
		}
		return true
	}
	return equalValues(want, got)
}

// equalValues compares numbers by their text and quantities by their size.
func equalValues(a, b any) bool {
	if cmp.Equal(a, b) || fmt.Sprint(a) == fmt.Sprint(b) || isZero(a) && isZero(b) {
		return true
	}
	x, errX := resource.ParseQuantity(fmt.Sprint(a))
	y, errY := resource.ParseQuantity(fmt.Sprint(b))
	return errX == nil && errY == nil && x.Equal(y)
}

func isZero(v any) bool { return isEmpty(v) || v == "" || v == false || fmt.Sprint(v) == "0" }

// decodeValue decodes a value of a report; integers stay exact.
func decodeValue(raw json.RawMessage) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var out any
	err := decoder.Decode(&out)
	return out, err
}

// isNative reports whether an object is of a kind whose Go type says which of its values are quantities.
func isNative(obj map[string]any) bool {
	u := unstructured.Unstructured{Object: obj}
	return scheme.Scheme.Recognizes(u.GroupVersionKind())
}

package argo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/engine/argocd"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file writes an Application of a working tree over the one of the cluster.

// mergedOver returns the live Application after the one of the tree is applied over it as kubectl applies custom resources: a field that
// the last apply set and the tree does not is removed, and fields that nobody applied stay, such as status and operation.
func mergedOver(live, made map[string]any) (map[string]any, error) {
	var texts [3][]byte
	for i, content := range []map[string]any{lastApplied(live, made), made, live} {
		var err error
		if texts[i], err = json.Marshal(content); err != nil {
			return nil, err
		}
	}
	merged, err := jsonmergepatch.CreateThreeWayJSONMergePatch(texts[0], texts[1], texts[2])
	if err == nil {
		merged, err = jsonpatch.MergePatch(texts[2], merged)
	}
	out := map[string]any{}
	if err == nil {
		err = json.Unmarshal(merged, &out)
	}
	if err != nil {
		key := object.RefOf(made).Key
		return nil, fmt.Errorf("Application %s/%s of the tree cannot be applied over the one of the cluster: %w", key.Namespace, key.Name, err)
	}
	return out, nil
}

// stagedFinalizers are the beginnings of finalizers that the controller of ApplicationSets leaves on an Application.
var stagedFinalizers = []string{"pre-delete-finalizer.argocd.argoproj.io", "post-delete-finalizer.argocd.argoproj.io"}

// replacedOver returns the live Application after the controller of ApplicationSets has written the one of its set over it: labels,
// annotations and finalizers are those of the set, besides what the controller keeps, and so is the spec (argo-cd v3.6.1
// applicationset/controllers/applicationset_controller.go createOrUpdateInCluster).
func replacedOver(live, made map[string]any, keeps api.Preserved) map[string]any {
	out, is := maps.Clone(live), &unstructured.Unstructured{Object: live}
	will := &unstructured.Unstructured{Object: map[string]any{"metadata": maps.Clone(object.Child(live, "metadata"))}}
	from := &unstructured.Unstructured{Object: made}
	kept := func(made, live map[string]string, names []string) map[string]string {
		all := nonNil(made)
		for _, name := range names {
			if value, found := live[name]; found {
				all[name] = value
			}
		}
		if len(all) == 0 {
			return nil // which removes the field
		}
		return all
	}
	will.SetAnnotations(kept(from.GetAnnotations(), is.GetAnnotations(), keeps.Annotations))
	will.SetLabels(kept(from.GetLabels(), is.GetLabels(), keeps.Labels))
	finalizers := from.GetFinalizers()
	for _, finalizer := range is.GetFinalizers() {
		if slices.ContainsFunc(stagedFinalizers, func(begin string) bool { return strings.HasPrefix(finalizer, begin) }) {
			finalizers = append(finalizers, finalizer)
		}
	}
	will.SetFinalizers(finalizers)
	out["metadata"], out["spec"] = will.Object["metadata"], made["spec"]
	return out
}

// lastApplied returns what the last apply of an Application set. A server-side one leaves no annotation, but its manager owns the fields:
// that is Argo CD, for an Application that another one makes, or kubectl.
func lastApplied(live, made map[string]any) map[string]any {
	if applied := argocd.Applied(live); applied != nil {
		return applied
	}
	key := object.RefOf(made).Key
	out := made
	for _, manager := range []string{argocd.Manager, "kubectl"} {
		out = argocd.Owned(api.RefTo(key.Kind, key.Namespace, key.Name), out, live, manager)
	}
	return out
}

// leaves reports whether ignore rules cover a field of an Application that a sync of its parent would change. What that sync does then
// depends on its options and on its other changes. Will is the Application that it would write.
func leaves(rules []api.IgnoreDifference, live, will map[string]any) bool {
	key := object.RefOf(live).Key
	return slices.ContainsFunc(rules, func(d api.IgnoreDifference) bool {
		switch {
		case !d.IsAbout(key):
			return false
		case len(d.JQPathExpressions)+len(d.ManagedFieldsManagers) > 0:
			return !isSameSpec(live, will)
		}
		return slices.ContainsFunc(d.JSONPointers, func(pointer string) bool { return !object.Equal(at(live, pointer), at(will, pointer)) })
	})
}

// isSameSpec reports whether two Applications ask for the same.
func isSameSpec(a, b map[string]any) bool {
	x, _ := json.Marshal(a["spec"])
	y, _ := json.Marshal(b["spec"])
	return bytes.Equal(x, y)
}

// at returns the value that a JSON pointer names, or nil.
func at(value any, pointer string) any {
	var steps object.Pointer
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		steps = append(steps, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
	}
	found, _ := steps.Lookup(value)
	return found
}

// nonNil returns a copy of a map, or an empty one.
func nonNil(m map[string]string) map[string]string {
	if out := maps.Clone(m); out != nil {
		return out
	}
	return map[string]string{}
}

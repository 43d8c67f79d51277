package argo

import (
	"encoding/json"
	"fmt"
	"maps"

	jsonpatch "github.com/evanphx/json-patch"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/engine/argocd"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file writes an Application of a working tree over the one of the cluster.

// mergedOver returns the live Application after the one of the tree is written over it. An apply is the one of kubectl for custom
// resources: a field that the last one set and the tree does not is removed, and fields that nobody applied stay, such as status and
// operation. The controller of an ApplicationSet replaces the spec instead (argo-cd v3.6.1
// applicationset/controllers/applicationset_controller.go).
func mergedOver(live, made map[string]any, isReplaced bool) (map[string]any, error) {
	if isReplaced {
		out := maps.Clone(live)
		metadata := maps.Clone(object.Child(live, "metadata"))
		for _, field := range []string{"labels", "annotations"} {
			both := maps.Clone(object.Child(metadata, field))
			if own := object.Child(object.Child(made, "metadata"), field); own != nil {
				if both == nil {
					both = map[string]any{}
				}
				maps.Copy(both, own)
			}
			if both != nil {
				metadata[field] = both
			}
		}
		out["metadata"], out["spec"] = metadata, made["spec"]
		return out, nil
	}
	current, err := json.Marshal(live)
	if err != nil {
		return nil, err
	}
	modified, err := json.Marshal(made)
	if err != nil {
		return nil, err
	}
	original, err := json.Marshal(lastApplied(live, made))
	if err != nil {
		return nil, err
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(original, modified, current)
	if err == nil {
		current, err = jsonpatch.MergePatch(current, patch)
	}
	out := map[string]any{}
	if err == nil {
		err = json.Unmarshal(current, &out)
	}
	if err != nil {
		key := object.RefOf(made).Key
		return nil, fmt.Errorf("Application %s/%s of the tree cannot be applied over the one of the cluster: %w", key.Namespace, key.Name, err)
	}
	return out, nil
}

// lastApplied returns what the last apply of an Application set. A server-side one leaves no annotation, but its manager owns the fields: that is
// Argo CD, for an Application that another one makes, or kubectl.
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

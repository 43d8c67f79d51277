package argocd

import (
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file is what RespectIgnoreDifferences=true makes of an object that a sync is about to write (argo-cd v3.6.1 controller/sync.go
// normalizeTargetResources).

// respecting returns what the sync writes in the place of desired: what is ignored is taken from live. The patch from what is left of live
// to live has what is ignored, and is applied to what is left of desired. status stays out of it.
func (c Left) respecting(ref object.Ref, desired, live map[string]any) (map[string]any, error) {
	status := []object.Pointer{{"status"}}
	texts, err := engine.Encoded(without(c.Live, status), without(live, status), c.Desired)
	if err != nil {
		return nil, fmt.Errorf("encoding what Argo CD ignores: %w", err)
	}
	patched, err := engine.Guarded(func() ([]byte, error) { return carry(ref, texts[0], texts[1], texts[2]) })
	if err != nil {
		return nil, fmt.Errorf("keeping what Argo CD ignores: %w", err)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(patched, &out); err != nil {
		return nil, fmt.Errorf("decoding what Argo CD keeps: %w", err)
	}
	restore(out, desired, c.Desired, c.Live)
	return out, nil
}

// carry applies to a text what changes from left to live. A kind that Argo CD does not know by its type has no lists with names.
func carry(ref object.Ref, left, live, text []byte) ([]byte, error) {
	if !isCustom(ref) {
		return strategic(ref, live, live, left, text)
	}
	patch, err := jsonpatch.CreateMergePatch(left, live)
	if err != nil {
		return nil, err
	}
	return jsonpatch.MergePatch(text, patch)
}

// isUnmergeable reports whether RespectIgnoreDifferences=true lets each sync of the Application fail because of a live object of a custom
// kind. Argo CD takes the rules of patches from the OpenAPI of its definition. It has none for a map or a list in a map, or in an object
// whose definition keeps all fields, and fails if something in there is ignored (k8s.io/apimachinery v0.37 pkg/util/strategicpatch/patch.go
// handleMapDiff, pkg/util/strategicpatch/types.go VisitMap).
func isUnmergeable(left, live map[string]any, shape *kinds.Shape) bool {
	keepsAll := !shape.Prunes("a field that no definition has")
	for name, value := range live {
		if name != "status" && differs(left[name], value) && (keepsAll || lacksRules(left[name], value, shape.Field(name))) {
			return true
		}
	}
	return false
}

// differs reports whether both values are maps, or both are lists, and they are not the same.
func differs(a, b any) bool {
	_, isMap := a.(map[string]any)
	_, isToo := b.(map[string]any)
	if !isMap || !isToo {
		_, isMap = a.([]any)
		_, isToo = b.([]any)
	}
	return isMap && isToo && !object.Equal(a, b)
}

// lacksRules reports whether two values differ in a map or a list that is in a map.
func lacksRules(left, live any, shape *kinds.Shape) bool {
	was, _ := left.(map[string]any)
	is, _ := live.(map[string]any)
	for name, value := range is {
		if shape != nil && differs(was[name], value) && (shape.IsMap() || lacksRules(was[name], value, shape.Field(name))) {
			return true
		}
	}
	return false
}

// restore undoes what a strategic patch changes besides the ignored fields, because the patch has some maps whole. It puts back desired's
// fields that are not ignored, and removes live's that are not (argo-cd v3.6.1 controller/sync.go restoreNonIgnoredFields).
func restore(patched, desired, leftDesired, leftLive map[string]any) {
	for name, was := range desired {
		is, isThere := patched[name]
		left, isLeft := leftDesired[name]
		patchedMap, isPatchedMap := is.(map[string]any)
		desiredMap, isDesiredMap := was.(map[string]any)
		leftMap, isLeftMap := left.(map[string]any)
		if isPatchedMap && isDesiredMap && isLeftMap {
			restore(patchedMap, desiredMap, leftMap, object.Child(leftLive, name))
			continue
		}
		if isLeft && object.Equal(left, was) && (!isThere || !object.Equal(is, was)) {
			patched[name] = was
		}
	}
	for name := range patched {
		if !object.Has(desired, name) && object.Has(leftLive, name) {
			delete(patched, name)
		}
	}
}

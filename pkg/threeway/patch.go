package threeway

import (
	"encoding/json"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// clientSide is Helm's own patch for one object: the engine it takes, and live after it.
type clientSide struct {
	engine Engine
	// typed is the Go type that a strategic patch is computed by; nil for the merge engine.
	typed runtime.Object
}

// clientSideFor chooses the engine as helm v3.22.0 pkg/kube/client.go createPatch does: strategic for kinds of Helm's native
// scheme, JSON merge for everything else, for CustomResourceDefinitions of v1beta1, and for objects that do not decode into
// their Go type.
func (c *catalog) clientSideFor(gvk schema.GroupVersionKind, desired map[string]any) clientSide {
	merge := clientSide{engine: EngineMerge}
	if gvk.Group == "apiextensions.k8s.io" && gvk.Version == "v1beta1" {
		return merge
	}
	typed, err := c.helm.New(gvk)
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(desired, typed) != nil {
		return merge
	}
	return clientSide{engine: EngineStrategic, typed: typed}
}

// result gives live after Helm's patch from old to desired. The patch is computed by the library calls that Helm makes, from
// the texts as they are; live is not changed.
func (p clientSide) result(old, desired, live map[string]any) (map[string]any, error) {
	o, err := json.Marshal(old)
	if err != nil {
		return nil, fmt.Errorf("encoding old: %w", err)
	}
	t, err := json.Marshal(desired)
	if err != nil {
		return nil, fmt.Errorf("encoding desired: %w", err)
	}
	l, err := json.Marshal(live)
	if err != nil {
		return nil, fmt.Errorf("encoding live: %w", err)
	}
	apply := p.merge
	if p.engine == EngineStrategic {
		apply = p.strategic
	}
	raw, err := apply(o, t, l)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	if err := utiljson.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("decoding the patched object: %w", err)
	}
	return out, nil
}

// strategic: helm v3.22.0 createPatch for native kinds, then what the API server does with such a patch.
func (p clientSide) strategic(old, desired, live []byte) ([]byte, error) {
	meta, err := strategicpatch.NewPatchMetaFromStruct(p.typed)
	if err != nil {
		return nil, fmt.Errorf("reading patch metadata: %w", err)
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(old, desired, live, meta, true)
	if err != nil {
		return nil, fmt.Errorf("failed to create patch: %w", err)
	}
	out, err := strategicpatch.StrategicMergePatchUsingLookupPatchMeta(live, patch, meta)
	if err != nil {
		return nil, fmt.Errorf("applying the patch: %w", err)
	}
	return out, nil
}

// merge: helm v3.22.0 createPatch for everything else; live is not looked at.
func (p clientSide) merge(old, desired, live []byte) ([]byte, error) {
	patch, err := jsonpatch.CreateMergePatch(old, desired)
	if err != nil {
		return nil, fmt.Errorf("failed to create patch: %w", err)
	}
	out, err := jsonpatch.MergePatch(live, patch)
	if err != nil {
		return nil, fmt.Errorf("applying the patch: %w", err)
	}
	return out, nil
}

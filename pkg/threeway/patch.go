package threeway

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	if err != nil || holdsAbsurd(desired, c.native(gvk)) || runtime.DefaultUnstructuredConverter.FromUnstructured(desired, typed) != nil {
		return merge
	}
	return clientSide{engine: EngineStrategic, typed: typed}
}

// holdsAbsurd tells whether a value has a quantity in it that would take for ever to decode.
func holdsAbsurd(v any, s *shape) bool {
	if s == nil {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			if holdsAbsurd(below, s.field(name)) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return holdsAbsurd(item, s.item()) })
	case string:
		return s.quantity && isAbsurd(v)
	}
	return false
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
	raw, err := guarded(apply, o, t, l)
	if err != nil {
		return nil, fmt.Errorf("failed to create patch: %s", patchFault(err))
	}
	var out map[string]any
	if err := utiljson.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("decoding the patched object: %w", err)
	}
	return out, nil
}

// guarded calls a merge of the libraries. Some objects make them panic, a null among the items of a list for one; Helm dies of
// it then, and the prediction is that it fails.
func guarded(apply func(old, desired, live []byte) ([]byte, error), old, desired, live []byte) (out []byte, err error) {
	defer func() {
		if recover() != nil {
			err = errPatchPanic
		}
	}()
	return apply(old, desired, live)
}

var errPatchPanic = errors.New("the patch library that Helm uses crashes on the object")

// patchFault gives the text of a library's error in so far as it quotes no value: items of lists may hold secrets.
func patchFault(err error) string {
	text := err.Error()
	unknown, keyless := "unable to find api field in struct ", " does not contain declared merge key: "
	switch {
	case errors.Is(err, errPatchPanic), strings.HasPrefix(text, unknown):
		return text
	case strings.Contains(text, keyless):
		return "an item of a list" + text[strings.LastIndex(text, keyless):]
	}
	return "the patch library that Helm uses refuses the object"
}

// strategic: helm v3.22.0 createPatch for native kinds, then what the API server does with such a patch.
func (p clientSide) strategic(old, desired, live []byte) ([]byte, error) {
	meta, err := strategicpatch.NewPatchMetaFromStruct(p.typed)
	if err != nil {
		return nil, err
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(old, desired, live, meta, true)
	if err != nil {
		return nil, err
	}
	return strategicpatch.StrategicMergePatchUsingLookupPatchMeta(live, patch, meta)
}

// merge: helm v3.22.0 createPatch for everything else; live is not looked at.
func (p clientSide) merge(old, desired, live []byte) ([]byte, error) {
	patch, err := jsonpatch.CreateMergePatch(old, desired)
	if err != nil {
		return nil, err
	}
	return jsonpatch.MergePatch(live, patch)
}

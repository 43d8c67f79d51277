package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch"
	jsonpatch5 "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// clientSide computes Helm's own patch for one object: the engine that Helm chooses, and live after the patch.
type clientSide struct {
	Engine report.Engine
	// meta has the rules of a strategic patch, from the Go type of the kind. It is nil for the merge engine.
	meta strategicpatch.LookupPatchMeta
	// threeWay is set if the merge engine looks at live too, and helm4 if Helm 4 computes the patch.
	threeWay, helm4 bool
}

// clientSide chooses the engine as helm v3.22.0 pkg/kube/client.go createPatch does: strategic for kinds of Helm's native
// scheme, JSON merge for everything else, for CustomResourceDefinitions of v1beta1, and for objects that do not decode into
// their Go type. Only an installation with --take-ownership merges three ways there (helm v3.22.0 pkg/action/install.go performInstall,
// pkg/kube/client.go UpdateThreeWayMerge).
func (c Writer) clientSide(ref object.Ref, desired map[string]any) clientSide {
	merge := clientSide{Engine: report.EngineMerge, threeWay: c.ThreeWayMerge, helm4: c.Helm4}
	if ref.Group == "apiextensions.k8s.io" && ref.Version == "v1beta1" {
		return merge
	}
	typed, err := kinds.Native().HelmScheme.New(ref.GVK())
	s := c.ShapeOf(ref)
	if err != nil || !s.Decodes(desired) &&
		(HoldsHugeQuantity(desired, s) || runtime.DefaultUnstructuredConverter.FromUnstructured(desired, typed) != nil) {
		return merge
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		return merge // no kind has a type that is not a struct
	}
	return clientSide{Engine: report.EngineStrategic, meta: meta}
}

// HoldsHugeQuantity reports whether a value holds a quantity that would take too long to decode.
func HoldsHugeQuantity(v any, s *kinds.Shape) bool {
	if s == nil {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			if HoldsHugeQuantity(below, s.Field(name)) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return HoldsHugeQuantity(item, s.Item()) })
	case string:
		return s.Quantity && kinds.HasHugeExponent(v)
	}
	return false
}

// result returns live after Helm's patch from old to desired. It computes the patch with the library calls that Helm makes, from the texts
// as they are, and does not change live. It leaves out managedFields: no patch changes them, and they are a large part of the text.
func (p clientSide) result(old, desired, live map[string]any, s *kinds.Shape) (map[string]any, error) {
	if result, certain := p.withoutPatch(old, desired, live, s); certain {
		return result, nil
	}
	live = WithoutManagedFields(live)
	patch, err := p.patch(old, desired, live)
	if err != nil {
		return nil, err
	}
	if p.Engine == report.EngineStrategic {
		return Guarded(func() (map[string]any, error) { return p.applyStrategic(live, patch) })
	}
	text, err := json.Marshal(live)
	if err != nil {
		return nil, fmt.Errorf("encoding live: %w", err)
	}
	raw, err := Guarded(func() ([]byte, error) { return jsonpatch.MergePatch(text, patch) })
	if err != nil {
		return nil, err
	}
	var out map[string]any
	if err := utiljson.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("decoding the patched object: %w", err)
	}
	return out, nil
}

// applyStrategic applies a strategic patch as the API server does. It does not change live.
func (p clientSide) applyStrategic(live map[string]any, patch []byte) (map[string]any, error) {
	var decoded map[string]any
	if err := utiljson.Unmarshal(patch, &decoded); err != nil {
		return nil, err
	}
	return strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(runtime.DeepCopyJSON(live), decoded, p.meta)
}

// WithoutManagedFields returns an object without its managedFields. The result shares the rest with live.
func WithoutManagedFields(live map[string]any) map[string]any {
	meta := maps.Clone(object.Child(live, "metadata"))
	if meta == nil {
		return live
	}
	delete(meta, "managedFields")
	out := maps.Clone(live)
	out["metadata"] = meta
	return out
}

// patch returns the patch that Helm sends for a live object: helm v3.22.0 pkg/kube/client.go createPatch. The merge engine does not look
// at live, unless it merges three ways. The preconditions of that merge, the same kind and name, cannot fail, because live was read by
// kind and name. The library of Helm 3 reads numbers as floating point, and the library of Helm 4 keeps them as they are written (helm
// v4.3.1, the same function).
func (p clientSide) patch(old, desired, live map[string]any) ([]byte, error) {
	sides := []any{old, desired}
	if p.Engine == report.EngineStrategic || p.threeWay {
		sides = append(sides, live)
	}
	texts, err := Encoded(sides...)
	if err != nil {
		return nil, err
	}
	was, is := texts[0], texts[1]
	return Guarded(func() ([]byte, error) {
		switch {
		case p.Engine == report.EngineStrategic:
			return strategicpatch.CreateThreeWayMergePatch(was, is, texts[2], p.meta, true)
		case p.threeWay:
			return jsonmergepatch.CreateThreeWayJSONMergePatch(was, is, texts[2])
		case p.helm4:
			return jsonpatch5.CreateMergePatch(was, is)
		}
		return jsonpatch.CreateMergePatch(was, is)
	})
}

// Encoded returns objects as JSON.
func Encoded(all ...any) ([][]byte, error) {
	var out [][]byte
	for _, o := range all {
		text, err := json.Marshal(o)
		if err != nil {
			return nil, fmt.Errorf("encoding an object: %w", err)
		}
		out = append(out, text)
	}
	return out, nil
}

// Guarded calls a merge function of the libraries, and returns an error if it panics. Some objects make it panic, such as one with a null
// among the items of a list. Helm then crashes, so the prediction is that the upgrade fails.
func Guarded[T any](merge func() (T, error)) (out T, err error) {
	defer func() {
		if recover() != nil {
			err = errPatchPanic
		}
		if err != nil {
			err = fmt.Errorf("failed to create patch: %s", patchFault(err))
		}
	}()
	return merge()
}

var errPatchPanic = errors.New("the patch library that Helm uses crashes on the object")

// patchFault returns the parts of a library's error that quote no value: items of lists may hold secrets.
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

// Replace predicts a replacement: helm --force, which Helm 4 calls --force-replace (helm v3.22.0 pkg/kube/client.go updateResource, v4.3.1
// replaceResource). Helm sends desired itself, so live matters only for what the API server restores or refuses to remove
// (internal/apiserver). Old does not matter.
func (c Writer) Replace(desired map[string]any) Written {
	return Written{Engine: report.EngineReplace, Result: runtime.DeepCopyJSON(desired)}
}

// Replacement returns the body of Helm's request to replace live: desired with live's resourceVersion, unless the manifest names one
// (k8s.io/cli-runtime v0.37 pkg/resource/helper.go Replace).
func (c Writer) Replacement(desired, live map[string]any) ([]byte, error) {
	out := runtime.DeepCopyJSON(desired)
	meta, version := object.Child(out, "metadata"), object.Child(live, "metadata")["resourceVersion"]
	if meta != nil && version != nil && object.IsZero(meta["resourceVersion"]) {
		meta["resourceVersion"] = version
	}
	return json.Marshal(out)
}

// StrictReason returns the reason why the API server rejects a replacement with fields that the kind's type does not have, or "" if it
// accepts it. Helm 4 asks the server for strict validation of replacements and applies (helm v4.3.1 pkg/kube/client.go
// replaceResource). From Helm 4's patches and creations, and from all requests of Helm 3, the server drops such fields with a warning.
func (c Writer) StrictReason(ref object.Ref, desired map[string]any) string {
	if !c.ForceReplace || !c.Helm4 {
		return ""
	}
	paths := unknownFields(desired, c.ShapeOf(ref), nil)
	if len(paths) == 0 {
		return ""
	}
	texts := make([]string, len(paths))
	for i, path := range paths {
		texts[i] = fmt.Sprintf("unknown field %q", path)
	}
	return fmt.Sprintf("failed to replace object: %s in version %q cannot be handled as a %s: strict decoding error: %s",
		ref.Kind, ref.Version, ref.Kind, strings.Join(texts, ", "))
}

// unknownFields lists the fields of a manifest that the server drops.
func unknownFields(v any, s *kinds.Shape, path object.Path) []object.Path {
	var out []object.Path
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			below := path.Field(name)
			if s.Prunes(name) && !isTopLevel(below) {
				out = append(out, below)
				continue
			}
			out = append(out, unknownFields(v[name], s.Field(name), below)...)
		}
	case []any:
		for i, item := range v {
			out = append(out, unknownFields(item, s.Item(), path.With(object.Step{Form: object.IndexStep, Index: i}))...)
		}
	}
	return out
}

// isTopLevel reports whether a path is a field that every object has and no shape describes.
func isTopLevel(path object.Path) bool {
	return len(path) == 1 && (path[0].Name == "apiVersion" || path[0].Name == "kind" || path[0].Name == "status")
}

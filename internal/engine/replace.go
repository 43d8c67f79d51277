package engine

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// predictReplacement predicts a replacement: helm --force, which Helm 4 calls --force-replace (helm v3.22.0 pkg/kube/client.go
// updateResource, v4.3.1 replaceResource). Helm sends desired itself, so live only matters for what the API server restores or
// refuses to remove (internal/apiserver). Old is not used.
func predictReplacement(desired map[string]any) Written {
	return Written{Engine: report.EngineReplace, applied: applied{Result: runtime.DeepCopyJSON(desired)}}
}

// replacement returns the body that Helm sends then: desired with live's resourceVersion, unless the manifest names one
// (k8s.io/cli-runtime v0.37 pkg/resource/helper.go Replace).
func replacement(desired, live map[string]any) map[string]any {
	out := runtime.DeepCopyJSON(desired)
	meta, version := object.Child(out, "metadata"), object.Child(live, "metadata")["resourceVersion"]
	if meta != nil && version != nil && object.IsZero(meta["resourceVersion"]) {
		meta["resourceVersion"] = version
	}
	return out
}

// StrictReason returns the reason why the API server rejects a replacement with fields that no type knows; empty if it does not. Helm 4
// asks the server for strict validation then, as it does for an apply (helm v4.3.1 pkg/kube/client.go replaceResource). Its patches and
// creations, and all that Helm 3 sends, lose such fields with a warning.
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

// isTopLevel reports whether a path is one of the fields that every object has and no shape describes.
func isTopLevel(path object.Path) bool {
	return len(path) == 1 && (path[0].Name == "apiVersion" || path[0].Name == "kind" || path[0].Name == "status")
}

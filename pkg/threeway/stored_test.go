package threeway

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// storage does what an API server does with objects that are written to it. It uses Kubernetes' own code: the Go types of native kinds,
// and the pruning of custom ones. Only the defaults are ours, and TestDefaultsMatchKubernetes compares them with Kubernetes'. It does
// not use the normal form that sides are compared in.
type storage struct {
	sample
	shape  *kinds.Shape
	pruned *structural.Structural
}

func newStorage(t testing.TB, o sample) *storage {
	t.Helper()
	job := newComparer(Input{Schemas: o.schemas})
	out := &storage{sample: o, shape: job.writer.ShapeOf(o.Ref)}
	custom := o.schemas[schema.GroupKind{Group: o.Group, Kind: o.Kind}]
	root, _ := custom.Schema(o.Version)
	if root == nil {
		return out
	}
	raw, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	var written apiextensionsv1.JSONSchemaProps
	var internal apiextensions.JSONSchemaProps
	if err := json.Unmarshal(raw, &written); err != nil {
		t.Fatalf("%s: %v", o.Source, err)
	}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&written, &internal, nil); err != nil {
		t.Fatalf("%s: %v", o.Source, err)
	}
	if out.pruned, err = structural.NewStructural(&internal); err != nil {
		t.Fatalf("%s: %v", o.Source, err)
	}
	return out
}

// store returns the object as the server would hold it, without bookkeeping, and false if the server cannot decode it.
func (s *storage) store(obj map[string]any) (map[string]any, bool) {
	out, _ := object.Copy(obj).(map[string]any)
	switch typed, err := kinds.Native().KnownScheme.New(s.GVK()); {
	case err == nil:
		raw, err := json.Marshal(withData(out))
		if err != nil || kjson.UnmarshalCaseSensitivePreserveInts(raw, typed) != nil {
			return nil, false
		}
		known, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
		if err != nil {
			return nil, false
		}
		dropPrinted(known, out)
		if conversion := object.Child(object.Child(known, "spec"), "conversion"); s.Kind == "CustomResourceDefinition" && conversion != nil && conversion["strategy"] == nil {
			return nil, false // apiextensions v0.37.1 pkg/apis/apiextensions/validation validateCustomResourceConversion
		}
		out, _ = withoutNulls(known).(map[string]any)
		if spec := object.Child(out, "spec"); s.Kind == "Service" && spec["type"] == "ExternalName" {
			// It is stored, but not returned: kubernetes v1.36.3 pkg/registry/core/service/storage/storage.go defaultOnReadInternalTrafficPolicy
			delete(spec, "internalTrafficPolicy")
		}
	case s.pruned != nil:
		pruning.Prune(out, s.pruned, true)
	}
	out["apiVersion"], out["kind"] = s.APIVersion(), s.Kind
	metadata := map[string]any{}
	for _, name := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		if value, ok := object.Child(out, "metadata")[name]; ok {
			metadata[name] = value
		}
	}
	out["metadata"] = metadata
	if !s.shape.PlainStatus {
		delete(out, "status")
	}
	kinds.FillDefaults(out, s.shape)
	metadata["name"] = s.Name
	return out, true
}

// withData returns a Secret with its stringData in data, as the server stores it (k8s.io/kubernetes v1.36.3 pkg/apis/core/v1/conversion.go
// Convert_v1_Secret_To_core_Secret).
func withData(obj map[string]any) map[string]any {
	text := object.Child(obj, "stringData")
	if obj["kind"] != "Secret" || obj["apiVersion"] != "v1" || text == nil {
		return obj
	}
	out := maps.Clone(obj)
	delete(out, "stringData")
	data := maps.Clone(object.Child(obj, "data"))
	if data == nil {
		data = map[string]any{}
	}
	for name, value := range text {
		if s, ok := value.(string); ok {
			value = base64.StdEncoding.EncodeToString([]byte(s))
		}
		data[name] = value
	}
	out["data"] = data
	return out
}

// dropPrinted removes the empty texts that Go prints for missing fields, because defaulting treats the fields as missing.
func dropPrinted(typed, written any) {
	switch typed := typed.(type) {
	case map[string]any:
		was, _ := written.(map[string]any)
		for name, value := range typed {
			if value == "" && !object.Has(was, name) {
				delete(typed, name)
				continue
			}
			dropPrinted(value, was[name])
		}
	case []any:
		was, _ := written.([]any)
		for i := range typed {
			var item any
			if i < len(was) {
				item = was[i]
			}
			dropPrinted(typed[i], item)
		}
	}
}

// edits lists where an edit changed what the server holds. It omits places that the server or controllers fill, and a default that
// disappears with the field that it depends on; other code decides about these.
func (s *storage) edits(before, after map[string]any) []object.Path {
	tree := verdict.AllocatedFor(s.Key, after)
	return slices.DeleteFunc(placesThatDiffer(nil, canonical(withoutAllocated(tree, before)), canonical(withoutAllocated(tree, after))), func(path object.Path) bool {
		_, stays := path.Lookup(after)
		_, named := path.Lookup(s.Content)
		return !stays && !named || path[len(path)-1].Name == "serviceAccount" // the server keeps the old name of serviceAccountName itself
	})
}

// demanded returns the paths that a report has to cover: all except defaults that came with another field, if there is one.
func (s *storage) demanded(paths []object.Path, after map[string]any) []object.Path {
	others := slices.DeleteFunc(slices.Clone(paths), func(path object.Path) bool {
		without, _ := object.Copy(after).(map[string]any)
		value, there := path.Lookup(after)
		above, _ := path[:len(path)-1].Lookup(without)
		if m, isMap := above.(map[string]any); isMap {
			delete(m, path[len(path)-1].Name)
		}
		filled, ok := s.store(without)
		again, back := path.Lookup(filled)
		return ok && there && back && object.Equal(value, again)
	})
	if len(others) == 0 {
		return paths
	}
	return others
}

// canonical returns a value without empty maps and lists. To a reader an empty field and a missing field are the same, so reports do
// not mention the difference.
func canonical(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, below := range v {
			if kept := canonical(below); !isHollow(kept) {
				out[name] = kept
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = canonical(v[i])
		}
		return out
	}
	return v
}

func isHollow(v any) bool {
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

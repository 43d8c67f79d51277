package kinds

import (
	"encoding/base64"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// fidelity says what normalise keeps of a manifest.
type fidelity int

const (
	// asStored drops what the server would not write: nulls, and zero values that are no pointers.
	asStored fidelity = iota
	// asWritten keeps both, to tell which fields a manifest names.
	asWritten
	// asRead is asStored for what the server returns: a null there is the zero value, or of a custom resource a null.
	asRead
)

// null is what a null that the server stores becomes in the normal form of a custom resource.
func (f fidelity) null() any {
	if f == asStored {
		return object.CustomNull{}
	}
	return nil
}

// normalObject gives the normal form of a whole object, without identity, bookkeeping and status. The argument is not changed.
func normalObject(obj map[string]any, s *Shape, f fidelity) map[string]any {
	if obj == nil {
		return nil
	}
	obj = FoldStringData(obj)
	root := map[string]any{}
	for k, v := range obj {
		if k != "apiVersion" && k != "kind" && k != "status" && k != "metadata" {
			root[k] = v
		}
	}
	if meta, ok := obj["metadata"].(map[string]any); ok {
		root["metadata"] = KeepKeys(meta, "labels", "annotations", "finalizers", "ownerReferences")
	}
	out, _ := normalise(root, s, f).(map[string]any)
	return out
}

// KeepKeys drops all entries of a map but those with the keys.
func KeepKeys(m map[string]any, keys ...string) map[string]any {
	out := map[string]any{}
	for _, k := range keys {
		if v, ok := m[k]; ok {
			out[k] = v
		}
	}
	return out
}

// FoldStringData writes a Secret's stringData into data, as the server does: stringData wins for a key that both have.
func FoldStringData(obj map[string]any) map[string]any {
	text, ok := obj["stringData"].(map[string]any)
	if !ok || obj["kind"] != "Secret" || obj["apiVersion"] != "v1" {
		return obj
	}
	out := maps.Clone(obj)
	delete(out, "stringData")
	data := map[string]any{}
	maps.Copy(data, object.Child(obj, "data"))
	for k, v := range text {
		if s, ok := v.(string); ok {
			data[k] = base64.StdEncoding.EncodeToString([]byte(s))
		} else {
			data[k] = v
		}
	}
	out["data"] = data
	return out
}

// normalise brings a value to the form in which sides are compared: through its shape where one is known, as plain JSON
// with null for absent elsewhere. The result shares nothing with v.
func normalise(v any, s *Shape, f fidelity) any {
	switch v := v.(type) {
	case map[string]any:
		switch {
		case s != nil && s.Form == FormStruct:
			return normalStruct(v, s, f)
		case s != nil && s.Form == FormMap:
			return normalMap(v, s, f)
		case s == nil || s.Form == FormPlain:
			return normalPlain(v, s, f)
		}
	case []any:
		if s == nil || s.Form == FormList || s.Form == FormPlain {
			return normalList(v, s, f)
		}
	}
	if s != nil && s.Form == FormLeaf {
		if out, ok := s.Leaf(v); ok {
			v = out
		}
	}
	return runtime.DeepCopyJSONValue(v)
}

// normalStruct follows omitempty: on a field that is no pointer, the zero value is absent. Fields the type does not know
// stay as they are.
func normalStruct(v map[string]any, s *Shape, f fidelity) map[string]any {
	v = withoutAlias(v, s)
	out := make(map[string]any, len(v))
	for k, child := range v {
		field, known := s.Fields[k]
		if child == nil {
			switch {
			case known && field.nullable, !known && s.isOpen():
				out[k] = f.null()
			case f == asWritten:
				out[k] = nil
			}
			continue
		}
		if !known {
			out[k] = normalise(child, s.Field(k), f)
			continue
		}
		n := normalise(child, field.Shape, f)
		if f == asWritten || !field.omits(n) {
			out[k] = n
		}
	}
	return out
}

// withoutAlias takes the deprecated serviceAccount out of a pod's spec. The server keeps it equal to serviceAccountName, and
// takes it for that where it is alone (k8s.io/kubernetes v1.36.3 pkg/apis/core/v1/conversion.go Convert_v1_PodSpec_To_core_PodSpec).
func withoutAlias(v map[string]any, s *Shape) map[string]any {
	const alias, name = "serviceAccount", "serviceAccountName"
	if !object.Has(v, alias) || s.Fields[alias] == nil || s.Fields[name] == nil {
		return v
	}
	out := maps.Clone(v)
	delete(out, alias)
	if object.IsZero(out[name]) {
		out[name] = v[alias]
	}
	return out
}

// omits tells whether the server leaves the field out for this value.
func (f *shapeField) omits(v any) bool {
	switch {
	case v == nil:
		return true
	case f.wire == keepAll || f.Shape == nil:
		return false
	case f.Form == FormList || f.Form == FormMap:
		return object.IsZero(v)
	}
	return f.wire == omitZero && (object.IsZero(v) || f.zero != nil && object.Equal(v, f.zero))
}

// normalMap keeps every key: zero values of a map are values. A null is what normalNull says.
func normalMap(v map[string]any, s *Shape, f fidelity) map[string]any {
	out := make(map[string]any, len(v))
	for k, child := range v {
		switch {
		case child != nil:
			out[k] = normalise(child, s.Elem, f)
		case s.nulls == nullIsZero:
			out[k] = ""
		case s.nulls == nullIsStored:
			out[k] = f.null()
		case f == asWritten:
			out[k] = nil
		case s.nulls == nullDeletes && f == asRead:
			out[k] = zeroOf(s.Elem)
		case s.nulls == nullDeletes:
			out[k] = object.NullKey{Zero: zeroOf(s.Elem)}
		}
	}
	return out
}

// zeroOf is what the server stores for a null in a map of a native kind.
func zeroOf(elem *Shape) any {
	switch {
	case elem == nil:
		return nil
	case elem.Form == FormStruct || elem.Form == FormMap:
		return map[string]any{}
	case elem.Form == FormList:
		return []any{}
	}
	for _, zero := range []any{"", int64(0), false} {
		if out, ok := elem.Leaf(zero); ok {
			return out
		}
	}
	return nil
}

func normalPlain(v map[string]any, s *Shape, f fidelity) map[string]any {
	out := make(map[string]any, len(v))
	for k, child := range v {
		switch {
		case child != nil:
			out[k] = normalise(child, s.Field(k), f)
		case s.isOpen():
			out[k] = f.null()
		case f == asWritten:
			out[k] = nil
		}
	}
	return out
}

// normalList takes the items one by one. Helm sends a list that is one value as a whole, and any list of a custom resource, so that a
// null inside it is always what the server makes of it.
func normalList(v []any, s *Shape, f fidelity) []any {
	if isCustom := s != nil && s.nulls != nullDeletes; f == asStored && (isCustom || !s.Keyed()) {
		f = asRead
	}
	out := make([]any, len(v))
	for i, child := range v {
		out[i] = normalise(child, s.Item(), f)
	}
	return out
}

// withoutAdmitted takes out of a Pod's normal form what admission adds to a list that is one value (kubernetes v1.36.3
// plugin/pkg/admission/defaulttolerationseconds).
func withoutAdmitted(key object.Key, obj map[string]any) {
	spec := object.Child(obj, "spec")
	list, ok := spec["tolerations"].([]any)
	if key.Kind != "Pod" || key.Group != "" || !ok {
		return
	}
	list = slices.DeleteFunc(slices.Clone(list), func(v any) bool {
		t, _ := v.(map[string]any)
		admitted := t["key"] == "node.kubernetes.io/not-ready" || t["key"] == "node.kubernetes.io/unreachable"
		return admitted && t["operator"] == "Exists" && t["effect"] == "NoExecute" && object.Equal(t["tolerationSeconds"], int64(300))
	})
	if spec["tolerations"] = list; len(list) == 0 {
		delete(spec, "tolerations")
	}
}

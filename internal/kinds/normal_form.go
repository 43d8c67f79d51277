package kinds

import (
	"encoding/base64"
	"maps"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// fidelity says what a normal form keeps of a text.
type fidelity int

const (
	// asStored drops what the server would not write: nulls, and zero values of fields that are not pointers.
	asStored fidelity = iota
	// asWritten keeps both, so that the result has every field that a manifest names.
	asWritten
	// asRead is like asStored, for what the server returns: a null stands for the zero value in a native kind, and is a plain
	// null in a custom resource.
	asRead
)

// null returns what a null that the server stores becomes in the normal form of a custom resource.
func (f fidelity) null() any {
	if f == asStored {
		return object.CustomNull{}
	}
	return nil
}

// normalObject returns the normal form of a whole object without defaults. It has neither the identity of the object, nor the metadata
// that the server keeps, nor a status that is a subresource. obj does not change. Loose is set if the normal form of a part depends on
// live: of a field that the shape does not have, or of a value that has other spellings.
func normalObject(obj map[string]any, s *Shape, f fidelity) (out map[string]any, loose bool) {
	if obj == nil {
		return nil, false
	}
	obj = FoldStringData(obj)
	root := map[string]any{}
	for k, v := range obj {
		if k != "apiVersion" && k != "kind" && k != "metadata" && (k != "status" || s != nil && s.PlainStatus) {
			root[k] = v
		}
	}
	if meta, ok := obj["metadata"].(map[string]any); ok {
		compared := map[string]any{}
		for name, v := range meta {
			if IsComparedMetadata(name) {
				compared[name] = v
			}
		}
		root["metadata"] = compared
	}
	n := normalization{fidelity: f}
	out, _ = n.normalize(root, s).(map[string]any)
	return out, n.loose
}

// normalization makes one normal form.
type normalization struct {
	fidelity
	// loose is set if live decides about a value of the normal form.
	loose bool
}

// IsComparedMetadata reports whether a field of the metadata is compared. The others identify the object, or belong to the server.
func IsComparedMetadata(name string) bool {
	return name == "labels" || name == "annotations" || name == "finalizers" || name == "ownerReferences" || name == "generateName"
}

// FoldStringData returns a Secret with its stringData in data, as the server stores it: stringData overwrites a key that both have.
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

// normalize returns the normal form of a value: by its shape if one is known, and else as plain JSON without nulls. The result shares
// nothing with v.
func (n *normalization) normalize(v any, s *Shape) any {
	n.loose = n.loose || s != nil && s.alike != nil
	switch v := v.(type) {
	case map[string]any:
		switch {
		case s != nil && s.Form == FormStruct:
			return n.normalStruct(v, s)
		case s != nil && s.Form == FormMap:
			return n.normalMap(v, s)
		case s == nil || s.Form == FormPlain:
			return n.normalPlain(v, s)
		}
	case []any:
		if s == nil || s.Form == FormList || s.Form == FormPlain {
			return n.normalList(v, s)
		}
	}
	// A value that does not decode, or has another form than the shape, stays as it is.
	if s != nil && s.Form == FormLeaf {
		if out, ok := s.Canonical(v); ok {
			v = out
		}
	}
	return object.Copy(v)
}

// normalStruct follows omitempty: the zero value of a field that is not a pointer is absent. Fields that the type does not know stay as
// they are.
func (n *normalization) normalStruct(v map[string]any, s *Shape) map[string]any {
	v = withoutAlias(v, s)
	out := make(map[string]any, len(v))
	for k, child := range v {
		field, known := s.Fields[k]
		n.loose = n.loose || !known && s.closed
		if child == nil {
			switch {
			// A custom resource keeps the null if its schema says nullable, or leaves the field open.
			case known && field.nullable, !known && s.isOpen():
				out[k] = n.null()
			case n.fidelity == asWritten:
				out[k] = nil
			}
			continue
		}
		if !known {
			out[k] = n.normalize(child, s.Field(k))
			continue
		}
		below := n.normalize(child, field.Shape)
		if n.fidelity == asWritten || !field.omits(below) {
			out[k] = below
		}
	}
	return out
}

// withoutAlias returns a pod's spec without the deprecated serviceAccount. The server keeps it equal to serviceAccountName, and uses it
// as serviceAccountName if that is absent (k8s.io/kubernetes v1.36.3 pkg/apis/core/v1/conversion.go Convert_v1_PodSpec_To_core_PodSpec).
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

// omits reports whether the server leaves out the field if it has this value.
func (f *structField) omits(v any) bool {
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

// normalMap keeps every key, because a map stores zero values. The shape decides about nulls.
func (n *normalization) normalMap(v map[string]any, s *Shape) map[string]any {
	out := make(map[string]any, len(v))
	for k, child := range v {
		switch {
		case child != nil:
			out[k] = n.normalize(child, s.Elem)
		case s.nulls == nullIsZero:
			out[k] = ""
		case s.nulls == nullIsStored:
			out[k] = n.null()
		case n.fidelity == asWritten:
			out[k] = nil
		// A null of a manifest may have become the zero value, or may have removed the key; what live has tells (normalizer.go).
		case s.nulls == nullDeletes && n.fidelity == asRead:
			out[k] = zeroOf(s.Elem)
		case s.nulls == nullDeletes:
			out[k] = object.NullKey{Zero: zeroOf(s.Elem)}
		}
	}
	return out
}

// zeroOf returns what the server stores for a null in a map of a native kind.
func zeroOf(elem *Shape) any {
	switch {
	case elem == nil:
		return nil
	case elem.Form == FormStruct || elem.Form == FormMap:
		return map[string]any{}
	case elem.Form == FormList:
		return []any{}
	}
	// One of these decodes into the scalar type: it is the zero value.
	for _, zero := range []any{"", int64(0), false} {
		if out, ok := elem.Canonical(zero); ok {
			return out
		}
	}
	return nil
}

// normalPlain returns the normal form of a map that no type describes.
func (n *normalization) normalPlain(v map[string]any, s *Shape) map[string]any {
	out := make(map[string]any, len(v))
	for k, child := range v {
		switch {
		case child != nil:
			out[k] = n.normalize(child, s.Field(k))
		case s.isOpen():
			out[k] = n.null()
		case n.fidelity == asWritten:
			out[k] = nil
		}
	}
	return out
}

// normalList normalizes item by item. Helm always sends the whole list if the list is one value or belongs to a custom resource, so a
// null in such a list is always what the server makes of it.
func (n *normalization) normalList(v []any, s *Shape) []any {
	f := n.fidelity
	if isCustom := s != nil && s.nulls != nullDeletes; f == asStored && (isCustom || !s.Keyed()) {
		n.fidelity = asRead
	}
	out := make([]any, len(v))
	for i, child := range v {
		out[i] = n.normalize(child, s.Item())
	}
	n.fidelity = f
	return out
}

// removeAdmitted removes from a Pod's normal form the tolerations that admission adds (kubernetes v1.36.3
// plugin/pkg/admission/defaulttolerationseconds).
func removeAdmitted(key object.Key, obj map[string]any) {
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

// removeHidden removes from a Service's normal form the traffic policy that the API server stores, but does not return for a Service
// without an address (kubernetes v1.36.3 pkg/registry/core/service/storage/storage.go defaultOnReadInternalTrafficPolicy).
func removeHidden(key object.Key, obj map[string]any) {
	if spec := object.Child(obj, "spec"); key.Kind == "Service" && key.Group == "" && spec["type"] == "ExternalName" {
		delete(spec, "internalTrafficPolicy")
	}
}

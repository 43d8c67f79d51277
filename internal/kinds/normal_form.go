package kinds

import (
	"encoding/base64"
	"maps"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// State is one side of an object (old, desired, live or result) at one place.
type State struct {
	// Value is the normal form with defaults. Present reports whether the side has the place.
	Value   any
	Present bool
	// Written is what the manifest says, including zero values and nulls. Named reports whether the manifest names the place.
	Written any
	Named   bool
}

// Field returns the state of a field or map key. Everything below a null of a manifest counts as named, because it is absent on purpose.
func (s State) Field(name string) State {
	var out State
	if m, ok := s.Value.(map[string]any); ok {
		out.Value, out.Present = m[name], object.Has(m, name)
	}
	switch m := s.Written.(type) {
	case map[string]any:
		out.Written, out.Named = m[name], object.Has(m, name)
	case nil:
		out.Named = s.Named
	}
	return out
}

// Item returns the state of the list item that a step names, or of all items with that name together. The written list has its items at
// the same indexes as the normal form.
func (s State) Item(step object.Step) State {
	list, _ := s.Value.([]any)
	return s.itemsAt(step.Indexes(list))
}

// Items returns a function that returns what Item returns. It is faster for many steps.
func (s State) Items() func(object.Step) State {
	list, _ := s.Value.([]any)
	items := object.NewItemIndex(list)
	return func(step object.Step) State { return s.itemsAt(items.Indexes(step)) }
}

// itemsAt returns the state of the list items at some indexes.
func (s State) itemsAt(indexes []int) State {
	list, _ := s.Value.([]any)
	written, _ := s.Written.([]any)
	if len(indexes) == 0 {
		return State{Named: s.Named && s.Written == nil}
	}
	texts := object.Pick(written, indexes)
	return State{Value: object.OneOrList(object.Pick(list, indexes)), Present: true, Written: object.OneOrList(texts), Named: len(texts) > 0}
}

// Shown returns the state for people: it has every value that a manifest writes, even if the server would leave it out.
func (s State) Shown() State {
	if !s.Present && s.Named && s.Written != nil {
		s.Value, s.Present = s.Written, true
	}
	return s
}

// IsUnstored reports whether a manifest writes more than a zero value, and the server stores nothing.
func (s State) IsUnstored() bool { return !s.Present && s.Named && !object.IsZero(s.Written) }

// WrittenOr returns what the manifest writes, or else the given value. A finding on a whole subtree shows it, because the normal form
// has all defaults.
func (s State) WrittenOr(value any) any {
	if value != nil && s.Named && s.Written != nil {
		return s.Written
	}
	return value
}

// Same reports whether the server would store the same for both states.
func (s State) Same(o State) bool {
	return s.Present == o.Present && (!s.Present || object.Equal(s.Value, o.Value))
}

// Object returns the value if it is a map, such as a whole object, and nil otherwise.
func (s State) Object() map[string]any {
	m, _ := s.Value.(map[string]any)
	return m
}

// Lookup returns the state at a path below s.
func (s State) Lookup(path object.Path) State {
	return object.Follow(s, path, State.Field, State.Item)
}

// Normalizer brings the texts of one object to comparable states: typed, with defaults, and in live's spelling if two spellings mean the
// same.
type Normalizer struct {
	key   object.Key
	Shape *Shape
	// text is live as it was read, and live holds the values of its normal form before defaults. It is made on first use, because in most
	// manifests nothing depends on live.
	text map[string]any
	live *liveValues
	// keepsSpelling is set if each side keeps its own spelling.
	keepsSpelling bool
	// Respelled reports whether live's spelling replaced another one somewhere.
	Respelled bool
}

// NewNormalizer returns the normalizer of an object. Live is the object that was read, or nil if there is none.
func NewNormalizer(key object.Key, s *Shape, live map[string]any) *Normalizer {
	return &Normalizer{key: key, Shape: s, text: live}
}

// AsSpelled returns a normalizer that makes the same normal forms, except that each side keeps its own spelling.
func (n *Normalizer) AsSpelled() *Normalizer {
	return &Normalizer{key: n.key, Shape: n.Shape, text: n.text, live: n.live, keepsSpelling: true}
}

// Manifest returns the state of a manifest's text, with what the manifest names.
func (n *Normalizer) Manifest(text map[string]any) State {
	value := n.normalForm(text, asStored)
	written, _ := normalObject(text, n.Shape, asWritten)
	return State{Value: value, Present: value != nil, Written: written, Named: true}
}

// ManifestOfOtherVersion returns the state of a manifest's text that was written for another version of the API. It has no defaults,
// because the defaults of this version prove nothing for the other.
func (n *Normalizer) ManifestOfOtherVersion(text map[string]any) State {
	out := n.Manifest(text)
	out.Value = n.WithoutDefaults(text)
	return out
}

// Stored returns the state of an object as the API server returns it, or would return it.
func (n *Normalizer) Stored(object map[string]any) State {
	value := n.normalForm(object, asRead)
	return State{Value: value, Present: value != nil}
}

// WithoutDefaults returns the normal form of a manifest's text without defaults.
func (n *Normalizer) WithoutDefaults(text map[string]any) any {
	normal, loose := normalObject(text, n.Shape, asStored)
	if loose {
		return n.aligned(normal)
	}
	return normal
}

// normalForm returns the normal form of a text with defaults.
func (n *Normalizer) normalForm(text map[string]any, f fidelity) map[string]any {
	out, loose := normalObject(text, n.Shape, f)
	if out == nil {
		return nil
	}
	if out["metadata"] == nil {
		out["metadata"] = map[string]any{} // every object has it
	}
	if loose && !object.IsSameMap(text, n.text) { // live needs no alignment with itself
		out = n.aligned(out)
	}
	FillDefaults(out, n.Shape)
	removeAdmitted(n.key, out)
	removeHidden(n.key, out)
	return out
}

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
	root := maps.Clone(obj)
	maps.DeleteFunc(root, func(name string, _ any) bool {
		return name == "apiVersion" || name == "kind" || name == "metadata" || name == "status" && (s == nil || !s.PlainStatus)
	})
	if meta, ok := obj["metadata"].(map[string]any); ok {
		compared := maps.Clone(meta)
		maps.DeleteFunc(compared, func(name string, _ any) bool { return !IsComparedMetadata(name) })
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
	if obj["kind"] != "Secret" || obj["apiVersion"] != "v1" {
		return obj
	}
	return FoldSecret(obj)
}

// FoldSecret is FoldStringData for an object that is known to be a Secret, even if it does not say so.
func FoldSecret(obj map[string]any) map[string]any {
	text, ok := obj["stringData"].(map[string]any)
	if !ok {
		return obj
	}
	out := maps.Clone(obj)
	delete(out, "stringData")
	data := map[string]any{}
	maps.Copy(data, object.Child(obj, "data"))
	for k, v := range text {
		if s, ok := v.(string); ok {
			v = base64.StdEncoding.EncodeToString([]byte(s))
		}
		data[k] = v
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
		case s == nil:
			return n.normalStruct(v, undescribed)
		case s.Form == FormStruct || s.Form == FormPlain:
			return n.normalStruct(v, s)
		case s.Form == FormMap:
			return n.normalMap(v, s)
		}
	case []any:
		if s == nil || s.Form == FormList || s.Form == FormPlain {
			return n.normalList(v, s)
		}
	}
	// A value that does not decode, or has another form than the shape, stays as it is.
	if s != nil && s.respells {
		if out, ok := s.Canonical(v); ok {
			v = out
		}
	}
	return object.Copy(v)
}

// normalStruct follows omitempty: the zero value of a field that is not a pointer is absent. Fields that the type does not know stay as
// they are. A map that no type describes is a struct without known fields.
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
		// A null of a manifest may have become the zero value, or may have removed the key; what live has tells (nulls.go).
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

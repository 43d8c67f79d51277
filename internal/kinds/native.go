package kinds

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsbeta "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationbeta "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Catalog knows the native kinds: the Go types that Helm merges by, and the API's own list-map keys.
type Catalog struct {
	// HelmScheme holds the kinds that Helm patches strategically (helm v3.22.0 pkg/kube/converter.go kubernetesNativeScheme).
	HelmScheme *runtime.Scheme
	// KnownScheme holds these and the aggregator's: kinds whose Go type is linked in, whatever Helm makes of them.
	KnownScheme *runtime.Scheme

	mu     sync.Mutex
	shapes map[reflect.Type]*Shape
	lists  *smdschema.Schema
}

// Native is the catalog of all kinds that are linked in.
var Native = sync.OnceValue(newCatalog)

// newCatalog builds the schemes. The catalog is safe for concurrent use; its shapes are immutable once returned.
func newCatalog() *Catalog {
	c := &Catalog{HelmScheme: runtime.NewScheme(), KnownScheme: runtime.NewScheme(), shapes: map[reflect.Type]*Shape{}}
	for _, s := range []*runtime.Scheme{c.HelmScheme, c.KnownScheme} {
		must(clientscheme.AddToScheme(s))
		must(apiextensionsbeta.AddToScheme(s))
		must(apiextensions.AddToScheme(s))
	}
	must(apiregistration.AddToScheme(c.KnownScheme))
	must(apiregistrationbeta.AddToScheme(c.KnownScheme))
	c.lists = linkedSchema()
	return c
}

// must guards registrations that cannot fail: the types are linked in.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// linkedSchema is the API's own schema as client-go carries it for server-side apply. Its list-map keys name list items.
func linkedSchema() *smdschema.Schema {
	pod := &corev1.Pod{}
	pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	typed, err := NativeApply().Types.ObjectToTyped(pod)
	must(err)
	return typed.Schema()
}

// Shape returns the shape of a native kind, nil for all others.
func (c *Catalog) Shape(gvk schema.GroupVersionKind) *Shape {
	t, ok := c.KnownScheme.AllKnownTypes()[gvk]
	if !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ofType(t)
}

// ofType gives the shape of a Go type. Struct shapes are shared and may be recursive, so they are entered before they are filled.
func (c *Catalog) ofType(t reflect.Type) *Shape {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s, ok := c.shapes[t]; ok {
		return s
	}
	s := &Shape{}
	c.shapes[t] = s
	switch leaf := leafOf(t); {
	case leaf != nil:
		s.Form, s.Leaf, s.Quantity = FormLeaf, leaf, t == reflect.TypeFor[resource.Quantity]()
	case t.Kind() == reflect.Struct:
		s.Form, s.Fields, s.Closed = FormStruct, map[string]*shapeField{}, true
		c.addFields(s, t)
	case t.Kind() == reflect.Map:
		s.Form, s.Elem = FormMap, c.ofType(t.Elem())
		s.addDefaults(typeName(t))
	case t.Kind() == reflect.Slice:
		s.Form, s.Elem = FormList, c.ofType(t.Elem())
	}
	return s
}

// addFields adds the fields of a struct by their JSON names; embedded structs are inlined, as encoding/json does.
func (c *Catalog) addFields(s *Shape, t reflect.Type) {
	s.addDefaults(typeName(t))
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case name == "" && f.Anonymous:
			c.addFields(s, f.Type)
		case name != "":
			field := &shapeField{Shape: c.fieldShape(t, name, f)}
			switch {
			case f.Type.Kind() == reflect.Pointer:
				field.wire = omitNil
			case f.Type == reflect.TypeFor[resource.Quantity]():
				field.zero = "0" // a struct, which omitempty does not omit
			}
			s.Fields[name] = field
		}
	}
}

// fieldShape is the shape of the field's type; a list has one of its own, since the field says how it merges.
func (c *Catalog) fieldShape(owner reflect.Type, name string, f reflect.StructField) *Shape {
	switch {
	case owner == reflect.TypeFor[metav1.ObjectMeta]() && f.Type.Kind() == reflect.Map:
		return &Shape{Form: FormMap, Elem: c.ofType(f.Type.Elem()), nulls: nullIsZero}
	case f.Type.Kind() != reflect.Slice || leafOf(f.Type) != nil:
		return c.ofType(f.Type)
	}
	out := &Shape{Form: FormList, Elem: c.ofType(f.Type.Elem()), List: c.listRule(owner, name, f)}
	if f.Type == reflect.TypeFor[[]autoscalingv2.MetricSpec]() {
		out.alike = AlikeSet // conversions between versions put them in another order, and the autoscaler takes the greatest anyway
	}
	return out
}

// listRule tells how Helm merges a list and what the API calls its items. Lists without patchStrategy "merge" are atomic for
// Helm (apimachinery strategicpatch); names come from the list-map keys, or where the linked schema has none, from the merge key.
func (c *Catalog) listRule(owner reflect.Type, name string, f reflect.StructField) ListRule {
	if !strings.Contains(f.Tag.Get("patchStrategy"), "merge") {
		return ListRule{}
	}
	mergeKey := f.Tag.Get("patchMergeKey")
	if mergeKey == "" {
		return ListRule{Set: true}
	}
	if keys := c.listMapKeys(owner, name); len(keys) > 0 {
		return ListRule{Keys: keys}
	}
	return ListRule{Keys: []string{mergeKey}}
}

func (c *Catalog) listMapKeys(owner reflect.Type, name string) []string {
	def, ok := c.lists.FindNamedType(schemaName(owner))
	if !ok || def.Map == nil {
		return nil
	}
	f, ok := def.Map.FindField(name)
	if !ok || f.Type.Inlined.List == nil {
		return nil
	}
	return f.Type.Inlined.List.Keys
}

// schemaName is the name of a Go type in the linked schema: k8s.io/api/core/v1.Container is io.k8s.api.core.v1.Container.
func schemaName(t reflect.Type) string {
	path := strings.TrimPrefix(t.PkgPath(), "k8s.io/")
	return "io.k8s." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}

// typeName is the key of a Go type in the defaults table: the last two elements of its package and its name.
func typeName(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	if len(parts) < 2 {
		return t.Name()
	}
	return strings.Join(parts[len(parts)-2:], "/") + "." + t.Name()
}

// leafOf gives the canonical form of scalars and of types that marshal themselves, nil for containers.
func leafOf(t reflect.Type) func(any) (any, bool) {
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		return quantityLeaf
	case reflect.TypeFor[intstr.IntOrString]():
		return intOrStringLeaf
	case reflect.TypeFor[[]byte]():
		return bytesLeaf
	case reflect.TypeFor[runtime.RawExtension]():
		return keepLeaf
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return func(v any) (any, bool) { return roundTrip(t, v) }
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice:
		return nil
	case reflect.Interface:
		return keepLeaf
	default:
		return func(v any) (any, bool) { return v, scalarFits(t.Kind(), v) }
	}
}

func keepLeaf(v any) (any, bool) { return v, true }

// roundTrip sends a value through its Go type's own JSON.
func roundTrip(t reflect.Type, v any) (any, bool) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, false
	}
	typed := reflect.New(t).Interface()
	if json.Unmarshal(raw, typed) != nil {
		return nil, false
	}
	if raw, err = json.Marshal(typed); err != nil {
		return nil, false
	}
	var out any
	if utiljson.Unmarshal(raw, &out) != nil {
		return nil, false
	}
	return out, true
}

// quantityLeaf writes a quantity as the server stores it: 1000m is 1, 1024Mi is 1Gi.
func quantityLeaf(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		if !IsAbsurd(v) {
			return roundTrip(reflect.TypeFor[resource.Quantity](), v)
		}
	case int64, float64:
		return roundTrip(reflect.TypeFor[resource.Quantity](), v)
	}
	return nil, false
}

// ParseQuantity reads a quantity; false where a text is none, or none that anybody could mean.
func ParseQuantity(text string) (resource.Quantity, bool) {
	if IsAbsurd(text) {
		return resource.Quantity{}, false
	}
	q, err := resource.ParseQuantity(text)
	return q, err == nil
}

// IsAbsurd tells whether a text is a number with an exponent of more than three digits. As a quantity it would be written out
// in full, which takes for ever.
func IsAbsurd(text string) bool {
	i := strings.LastIndexAny(text, "eE")
	return i > 0 && len(strings.TrimLeft(text[i+1:], "+-")) > 3 && strings.Trim(text, "0123456789.+-eE") == ""
}

func intOrStringLeaf(v any) (any, bool) {
	switch v.(type) {
	case string, int64:
		return v, true
	}
	return nil, false
}

// bytesLeaf compares base64 by what it decodes to: wrapped text is the same value.
func bytesLeaf(v any) (any, bool) {
	text, ok := v.(string)
	if !ok {
		return nil, false
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, false
	}
	return base64.StdEncoding.EncodeToString(raw), true
}

func scalarFits(kind reflect.Kind, v any) bool {
	switch v.(type) {
	case string:
		return kind == reflect.String
	case bool:
		return kind == reflect.Bool
	case int64:
		return kind != reflect.String && kind != reflect.Bool
	case float64:
		return kind == reflect.Float32 || kind == reflect.Float64
	}
	return false
}

// NativeApply is what client-go carries for server-side apply of native kinds: their scheme, untouched by others, and schemas.
var NativeApply = sync.OnceValue(func() (n struct {
	Scheme *runtime.Scheme
	Types  managedfields.TypeConverter
}) {
	n.Scheme = runtime.NewScheme()
	must(clientscheme.AddToScheme(n.Scheme))
	n.Types = applyconfigurations.NewTypeConverter(n.Scheme)
	return n
})

// ShapeOf returns the shape of a kind: native, from its definition, or metadata alone where nothing is known of it.
func ShapeOf(ref object.Ref, definition *CustomSchema) *Shape {
	if s := Native().Shape(ref.GVK()); s != nil {
		return s
	}
	return Native().WithMetadata(definition.Shape(ref.Version))
}

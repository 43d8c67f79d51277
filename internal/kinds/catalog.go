package kinds

import (
	"cmp"
	"reflect"
	"strings"
	"sync"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsbeta "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationbeta "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Catalog has the native kinds: the Go types that Helm merges by, and the API's own list-map keys. It is safe for concurrent use, and does
// not change a shape once it has returned it.
type Catalog struct {
	// HelmScheme has the kinds that Helm patches strategically (helm v3.22.0 pkg/kube/converter.go kubernetesNativeScheme).
	HelmScheme Schemes
	// KnownScheme has these and the aggregator's kinds: all kinds whose Go type is linked in, however Helm patches them.
	KnownScheme Schemes

	mu          sync.RWMutex
	shapes      map[reflect.Type]*Shape
	listMapKeys map[listField][]string
}

// Native returns the catalog of all kinds that are linked in.
var Native = sync.OnceValue(newCatalog)

// Schemes are schemes with different kinds. One scheme with all of them would take milliseconds of every start, and client-go has filled
// its own already.
type Schemes []*runtime.Scheme

// New returns an empty object of a kind, as the method of a scheme does.
func (s Schemes) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	for _, scheme := range s {
		if scheme.Recognizes(gvk) {
			return scheme.New(gvk)
		}
	}
	return nil, runtime.NewNotRegisteredErrForKind("kinds", gvk)
}

// typeOf returns the Go type of a kind, or nil.
func (s Schemes) typeOf(gvk schema.GroupVersionKind) reflect.Type {
	for _, scheme := range s {
		if t := scheme.AllKnownTypes()[gvk]; t != nil {
			return t
		}
	}
	return nil
}

// newCatalog returns a catalog without shapes. It makes the shape of a kind on first use.
func newCatalog() *Catalog {
	definitions, services := runtime.NewScheme(), runtime.NewScheme()
	utilruntime.Must(apiextensionsbeta.AddToScheme(definitions))
	utilruntime.Must(apiextensions.AddToScheme(definitions))
	utilruntime.Must(apiregistration.AddToScheme(services))
	utilruntime.Must(apiregistrationbeta.AddToScheme(services))
	return &Catalog{
		HelmScheme: Schemes{clientscheme.Scheme, definitions}, KnownScheme: Schemes{clientscheme.Scheme, definitions, services},
		shapes: map[reflect.Type]*Shape{}, listMapKeys: readListMapKeys(),
	}
}

// ShapeOf returns the shape of a kind: native, from its definition, or only of the metadata if nothing else is known. For a kind without
// a definition, plainStatus says whether its status is a field like any other.
func ShapeOf(ref object.Ref, definition *CustomSchema, plainStatus bool) *Shape {
	if s := Native().Shape(ref.GVK()); s != nil {
		return s
	}
	return cmp.Or(definition.Shape(ref.Version), undefined()[plainStatus || definition.PlainStatus(ref.Version)])
}

// undefined returns the shapes of custom kinds without a known definition, by their PlainStatus. They have only the metadata.
var undefined = sync.OnceValue(func() map[bool]*Shape {
	out := map[bool]*Shape{}
	for _, plainStatus := range []bool{false, true} {
		out[plainStatus] = withMetadata(&Shape{Form: FormStruct, Fields: map[string]*structField{}, PlainStatus: plainStatus})
	}
	return out
})

// Shape returns the shape of a native kind, or nil for any other kind.
func (c *Catalog) Shape(gvk schema.GroupVersionKind) *Shape {
	t := c.KnownScheme.typeOf(gvk)
	if t == nil {
		return nil
	}
	c.mu.RLock()
	s := c.shapes[t]
	c.mu.RUnlock()
	if s == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		s = c.ofType(t)
	}
	return s
}

// withMetadata adds the API's own metadata to the shape of a custom kind, and returns it.
func withMetadata(root *Shape) *Shape {
	c := Native()
	c.mu.Lock()
	defer c.mu.Unlock()
	root.Fields["metadata"], root.Custom = &structField{Shape: c.ofType(reflect.TypeFor[metav1.ObjectMeta]())}, true
	return root
}

// ofType returns the shape of a Go type. Shapes of structs are shared and may be recursive, so ofType stores a shape before it fills it.
func (c *Catalog) ofType(t reflect.Type) *Shape {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s, ok := c.shapes[t]; ok {
		return s
	}
	s := &Shape{}
	c.shapes[t] = s
	// A type that marshals itself is a leaf, although it may be a struct, such as a quantity or a time.
	canonical, respells := canonicalOf(t)
	switch schema := schemaLeaf(t); {
	case schema != nil:
		s.Form, s.schema = FormLeaf, c.ofType(schema)
		s.Canonical, s.respells = canonicalSchema(t, s.schema), true
	case canonical != nil:
		s.Form, s.Canonical, s.respells, s.Quantity = FormLeaf, canonical, respells, t == reflect.TypeFor[resource.Quantity]()
	case t.Kind() == reflect.Struct:
		s.Form, s.Fields, s.closed = FormStruct, map[string]*structField{}, true
		c.addFields(s, t)
	case t.Kind() == reflect.Map:
		s.Form, s.Elem = FormMap, c.ofType(t.Elem())
		s.addDefaults(t)
	case t.Kind() == reflect.Slice:
		s.Form, s.Elem = FormList, c.ofType(t.Elem())
	}
	return s
}

// addFields adds the fields of a struct by their JSON names. The fields of an embedded struct belong to the struct, as in encoding/json.
func (c *Catalog) addFields(s *Shape, t reflect.Type) {
	s.addDefaults(t)
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case name == "" && f.Anonymous:
			c.addFields(s, f.Type)
		case name != "":
			strategy := f.Tag.Get("patchStrategy")
			field := &structField{Shape: c.fieldShape(t, name, f), patch: PatchRule{
				Replaces: strings.Contains(strategy, "replace"), RetainsKeys: strings.Contains(strategy, "retainKeys"),
			}}
			// What the server writes for a zero value depends on the Go type of the field.
			switch {
			case f.Type.Kind() == reflect.Pointer:
				field.wire = omitNil
			case f.Type == reflect.TypeFor[resource.Quantity]():
				field.zero = "0" // a struct, which omitempty does not omit
			case f.Type.Kind() == reflect.Struct && !isLeaf(f.Type):
				s.embedded = append(s.embedded, name)
			}
			if !strings.Contains(f.Tag.Get("json"), ",omitempty") {
				s.required = append(s.required, name)
			}
			s.Fields[name] = field
		}
	}
}

// fieldShape returns the shape of the field's type. A list gets a shape of its own, because the field says how the list merges.
func (c *Catalog) fieldShape(owner reflect.Type, name string, f reflect.StructField) *Shape {
	switch {
	case owner == reflect.TypeFor[metav1.ObjectMeta]() && f.Type.Kind() == reflect.Map:
		return &Shape{Form: FormMap, Elem: c.ofType(f.Type.Elem()), nulls: nullIsZero}
	case f.Type.Kind() != reflect.Slice || isLeaf(f.Type):
		return c.ofType(f.Type)
	}
	out := &Shape{Form: FormList, Elem: c.ofType(f.Type.Elem()), List: c.listRule(owner, name, f)}
	if f.Type == reflect.TypeFor[[]autoscalingv2.MetricSpec]() {
		out.alike = object.EqualSets // conversions between versions change the order, and the autoscaler takes the greatest anyway
	}
	return out
}

// listRule returns the rule for a list: how Helm merges it and how the API names its items. Helm treats a list without patchStrategy
// "merge" as one value (apimachinery strategicpatch). The names are the list-map keys, or the merge key if the linked schema has no
// list-map keys.
func (c *Catalog) listRule(owner reflect.Type, name string, f reflect.StructField) ListRule {
	if !strings.Contains(f.Tag.Get("patchStrategy"), "merge") {
		return ListRule{}
	}
	mergeKey := f.Tag.Get("patchMergeKey")
	if mergeKey == "" {
		return ListRule{Set: true}
	}
	if keys := c.listMapKeys[listField{schemaName(owner), name}]; len(keys) > 0 {
		return ListRule{Keys: keys, MergeKey: mergeKey}
	}
	return ListRule{Keys: []string{mergeKey}, MergeKey: mergeKey}
}

// schemaName returns the name of a Go type in the linked schema: k8s.io/api/core/v1.Container is io.k8s.api.core.v1.Container.
func schemaName(t reflect.Type) string {
	path := strings.TrimPrefix(t.PkgPath(), "k8s.io/")
	return "io.k8s." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}

// typeNames returns the names of a Go type in the tables of defaults, with and without its version: k8s.io/api/apps/v1.Deployment is
// apps/v1.Deployment and apps.Deployment.
func typeNames(t reflect.Type) (versioned, unversioned string) {
	parts := strings.Split(t.PkgPath(), "/")
	if len(parts) < 2 {
		return t.Name(), t.Name()
	}
	group, version := parts[len(parts)-2], parts[len(parts)-1]
	return group + "/" + version + "." + t.Name(), group + "." + t.Name()
}

package kinds

import (
	"cmp"
	"reflect"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsbeta "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/applyconfigurations"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationbeta "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Catalog has the native kinds: the Go types by which Helm merges, and the API's own list-map keys. It is safe for concurrent use, and its
// shapes do not change once they are returned.
type Catalog struct {
	// HelmScheme has the kinds that Helm patches strategically (helm v3.22.0 pkg/kube/converter.go kubernetesNativeScheme).
	HelmScheme *runtime.Scheme
	// KnownScheme has these and the aggregator's: all kinds whose Go type is linked in, however Helm patches them.
	KnownScheme *runtime.Scheme

	mu     sync.RWMutex
	shapes map[reflect.Type]*Shape
	kinds  map[schema.GroupVersionKind]*Shape
	lists  *smdschema.Schema
}

// Native returns the catalog of all kinds that are linked in.
var Native = sync.OnceValue(newCatalog)

// newCatalog returns a catalog without shapes, which are made at the first question for their kind.
func newCatalog() *Catalog {
	c := &Catalog{
		HelmScheme: runtime.NewScheme(), KnownScheme: runtime.NewScheme(),
		shapes: map[reflect.Type]*Shape{}, kinds: map[schema.GroupVersionKind]*Shape{},
	}
	for _, s := range []*runtime.Scheme{c.HelmScheme, c.KnownScheme} {
		utilruntime.Must(clientscheme.AddToScheme(s))
		utilruntime.Must(apiextensionsbeta.AddToScheme(s))
		utilruntime.Must(apiextensions.AddToScheme(s))
	}
	utilruntime.Must(apiregistration.AddToScheme(c.KnownScheme))
	utilruntime.Must(apiregistrationbeta.AddToScheme(c.KnownScheme))
	c.lists = linkedSchema()
	return c
}

// linkedSchema returns the API's own schema as client-go has it for server-side apply. Its list-map keys name list items.
func linkedSchema() *smdschema.Schema {
	pod := &corev1.Pod{}
	pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	typed, err := NativeApply().Types.ObjectToTyped(pod)
	utilruntime.Must(err)
	return typed.Schema()
}

// NativeApply returns what client-go has for the server-side apply of native kinds: their scheme, without the kinds that others add to
// it, and their types.
var NativeApply = sync.OnceValue(func() (n struct {
	Scheme *runtime.Scheme
	Types  managedfields.TypeConverter
}) {
	n.Scheme = runtime.NewScheme()
	utilruntime.Must(clientscheme.AddToScheme(n.Scheme))
	n.Types = applyconfigurations.NewTypeConverter(n.Scheme)
	return n
})

// ShapeOf returns the shape of a kind: native, from its definition, or of the metadata alone if nothing else is known of it. PlainStatus
// says of a kind without a definition whether its status is a field like any other.
func ShapeOf(ref object.Ref, definition *CustomSchema, plainStatus bool) *Shape {
	if s := Native().Shape(ref.GVK()); s != nil {
		return s
	}
	unknown := undefined
	if plainStatus || definition.PlainStatus(ref.Version) {
		unknown = undefinedWithStatus
	}
	return cmp.Or(definition.Shape(ref.Version), unknown())
}

// undefined returns the shape of a custom kind that has no known definition: nothing but its metadata. undefinedWithStatus returns that of
// a kind without a status subresource.
var (
	undefined           = sync.OnceValue(func() *Shape { return newUndefined(false) })
	undefinedWithStatus = sync.OnceValue(func() *Shape { return newUndefined(true) })
)

func newUndefined(plainStatus bool) *Shape {
	return withMetadata(&Shape{Form: FormStruct, Fields: map[string]*structField{}, PlainStatus: plainStatus})
}

// Shape returns the shape of a native kind; nil for all others.
func (c *Catalog) Shape(gvk schema.GroupVersionKind) *Shape {
	t, ok := c.KnownScheme.AllKnownTypes()[gvk]
	if !ok {
		return nil
	}
	c.mu.RLock()
	s := c.kinds[gvk]
	c.mu.RUnlock()
	if s == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		s = c.ofType(t)
		c.kinds[gvk] = s
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

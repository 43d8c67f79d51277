package repair

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	jsonpatch "github.com/evanphx/json-patch"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/spec3"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// site is a release of some objects and a stand-in for the API server: it stores canonical objects with their defaults, and the API
// server's own field manager signs every write.
type site struct {
	t          testing.TB
	serverSide bool
	// deployer is the field manager that install writes as.
	deployer   string
	schemas    map[schema.GroupKind]*kinds.CustomSchema
	types      map[schema.GroupVersion]*engine.ApplyTypes
	converters map[schema.GroupVersion]managedfields.TypeConverter
	old        []object.Object
	// last is the manifest of a failed last revision, if any.
	last       []object.Object
	live       map[object.Ref]map[string]any
	autoscaled map[object.Key]object.Autoscaler
	rules      []ignore.Rule
	// status is the status of revision 1, and others are other releases.
	status string
	others map[object.ReleaseName]threeway.OtherRelease
}

func newSite(t testing.TB, old, crds string, serverSide bool) *site {
	w := &site{
		t: t, serverSide: serverSide, deployer: "helm", live: map[object.Ref]map[string]any{},
		schemas: map[schema.GroupKind]*kinds.CustomSchema{}, types: map[schema.GroupVersion]*engine.ApplyTypes{},
		converters: map[schema.GroupVersion]managedfields.TypeConverter{}, others: map[object.ReleaseName]threeway.OtherRelease{},
	}
	for _, content := range documents(t, crds) {
		w.define(content)
	}
	for _, content := range documents(t, old) {
		w.old = append(w.old, objectOf(content))
	}
	return w
}

// define adds a CustomResourceDefinition.
func (w *site) define(crd map[string]any) {
	s, err := kinds.NewCustomSchema(crd)
	if err != nil {
		w.t.Fatal(err)
	}
	spec, _ := crd["spec"].(map[string]any)
	group, _ := spec["group"].(string)
	names, _ := spec["names"].(map[string]any)
	kind, _ := names["kind"].(string)
	w.schemas[schema.GroupKind{Group: group, Kind: kind}] = s
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		version, _ := v.(map[string]any)
		name, _ := version["name"].(string)
		gv := schema.GroupVersion{Group: group, Version: name}
		holder, _ := version["schema"].(map[string]any)
		document := openAPI(gv.WithKind(kind), holder["openAPIV3Schema"])
		if w.types[gv], err = engine.NewApplyTypes(document); err != nil {
			w.t.Fatal(err)
		}
		w.converters[gv] = converterOf(w.t, document)
	}
}

// input is the comparison's input.
func (w *site) input() threeway.Input {
	in := threeway.Input{
		Name: "r", Namespace: "d", StorageNamespace: "d", Operation: report.OperationDrift, ApplyMethod: "client-side",
		Old: &report.Revision{Revision: 1, Status: w.status}, Last: &report.Revision{Revision: 1, Status: w.status}, Others: w.others,
		OldObjects: w.old, DesiredObjects: w.old, Live: map[object.Ref]cluster.Live{}, Schemas: w.schemas, ApplyTypes: w.types,
		Autoscaled: w.autoscaled, Rules: w.rules,
	}
	if w.serverSide {
		in.ApplyMethod = "server-side"
	}
	if w.last != nil {
		in.LastObjects, in.Last = w.last, &report.Revision{Revision: 2, Status: "failed"}
	}
	for _, o := range w.old {
		in.Live[o.Ref] = cluster.Live{Absence: cluster.AbsentObject}
	}
	for ref, object := range w.live {
		in.Live[ref] = cluster.Live{Object: object}
	}
	return in
}

func (w *site) compare() *threeway.Comparison { return threeway.Compare(w.input()) }

func (w *site) plan(o Options) *Plan {
	w.t.Helper()
	p, err := New(w.compare(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// served is an object as the server stores it: canonical and with defaults.
func (w *site) served(o object.Object, obj map[string]any) map[string]any {
	in := w.input()
	in.OldObjects, in.DesiredObjects = []object.Object{o}, []object.Object{o}
	in.Live = map[object.Ref]cluster.Live{o.Ref: {Object: obj}}
	c := threeway.Compare(in)
	r, ok := c.Repairable(&c.Objects[0])
	if !ok {
		return obj
	}
	out, _ := object.Copy(r.Normal(obj)).(map[string]any)
	metadata, _ := out["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	old, _ := obj["metadata"].(map[string]any)
	for _, name := range []string{"uid", "deletionTimestamp", "managedFields"} {
		if old[name] != nil {
			metadata[name] = old[name]
		}
	}
	metadata["name"] = o.Name
	if o.Namespace != "" {
		metadata["namespace"] = o.Namespace
	}
	out["apiVersion"], out["kind"], out["metadata"] = o.APIVersion(), o.Kind, metadata
	return out
}

// install stores an object as Helm does.
func (w *site) install(o object.Object) bool {
	target := object.HelmMetadata(o.Content, "r", "d")
	born := map[string]any{"apiVersion": o.APIVersion(), "kind": o.Kind, "metadata": map[string]any{"name": o.Name, "uid": "uid-" + o.Name}}
	if w.serverSide {
		out, ok := w.sign(o, func(m *managedfields.FieldManager) (runtime.Object, error) {
			return m.Apply(&unstructured.Unstructured{Object: born}, &unstructured.Unstructured{Object: target}, w.deployer, false)
		})
		if ok {
			w.live[o.Ref] = w.served(o, out)
		}
		return ok
	}
	stored := w.served(o, withoutNulls(target))
	stored["metadata"].(map[string]any)["uid"] = "uid-" + o.Name
	w.live[o.Ref] = map[string]any{"apiVersion": o.APIVersion(), "kind": o.Kind}
	return w.update(o, stored, w.deployer)
}

// update stores an object as any client does. It returns false if the field manager cannot follow, so that no owner is recorded.
func (w *site) update(o object.Object, obj map[string]any, manager string) bool {
	next := w.served(o, obj)
	if was, ok := w.live[o.Ref]["metadata"].(map[string]any); ok && was["managedFields"] != nil {
		next["metadata"].(map[string]any)["managedFields"] = was["managedFields"]
	}
	out, ok := w.sign(o, func(m *managedfields.FieldManager) (runtime.Object, error) {
		before, _ := object.Copy(w.live[o.Ref]).(map[string]any)
		after, _ := object.Copy(next).(map[string]any)
		return m.Update(&unstructured.Unstructured{Object: before}, &unstructured.Unstructured{Object: after}, manager)
	})
	if !ok {
		w.live[o.Ref] = next
		return false
	}
	w.live[o.Ref] = out
	return true
}

func (w *site) sign(o object.Object, write func(*managedfields.FieldManager) (runtime.Object, error)) (map[string]any, bool) {
	gvk := schema.GroupVersionKind{Group: o.Group, Version: o.Version, Kind: o.Kind}
	create, types := managedfields.NewDefaultFieldManager, nativeTypes()
	if !clientscheme.Scheme.Recognizes(gvk) {
		create, types = managedfields.NewDefaultCRDFieldManager, w.converters[gvk.GroupVersion()]
		if types == nil {
			return nil, false
		}
	}
	m, err := create(types, asIs{}, asIs{}, asIs{}, gvk, gvk.GroupVersion(), "", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := write(m)
	if err != nil {
		w.t.Log(err)
		return nil, false
	}
	u, _ := out.(*unstructured.Unstructured)
	metadata, _ := u.Object["metadata"].(map[string]any)
	if metadata["managedFields"] == nil {
		return nil, false
	}
	raw, err := json.Marshal(u.Object)
	if err != nil {
		w.t.Fatal(err)
	}
	return decoded(w.t, raw), true
}

// send applies a JSON patch to the live object and stores the result.
func (w *site) send(o object.Object, body []byte, manager string) {
	w.t.Helper()
	after := patched(w.t, w.live[o.Ref], body)
	if strings.Contains(string(body), managedFields) {
		w.live[o.Ref] = after // the server signs nothing where nothing else changes
		return
	}
	w.update(o, after, manager)
}

// patched returns an object after a JSON patch.
func patched(t testing.TB, live map[string]any, body []byte) map[string]any {
	t.Helper()
	patch, err := jsonpatch.DecodePatch(body)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(live)
	if err != nil {
		t.Fatal(err)
	}
	out, err := patch.Apply(raw)
	if err != nil {
		t.Fatalf("the patch does not apply: %v\n%s", err, body)
	}
	return decoded(t, out)
}

func decoded(t testing.TB, raw []byte) map[string]any {
	t.Helper()
	var out map[string]any
	if err := utiljson.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func documents(t testing.TB, text string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for doc := range strings.SplitSeq(text, "---\n") {
		if strings.TrimSpace(doc) == "" {
			continue
		}
		raw, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, decoded(t, raw))
	}
	return out
}

// objectOf is an object of a manifest. A namespaced object without a namespace is in d.
func objectOf(content map[string]any) object.Object {
	apiVersion, _ := content["apiVersion"].(string)
	gv, _ := schema.ParseGroupVersion(apiVersion)
	metadata, _ := content["metadata"].(map[string]any)
	o := object.Object{Content: content}
	o.Kind, _ = content["kind"].(string)
	o.Group, o.Version = gv.Group, gv.Version
	o.Name, _ = metadata["name"].(string)
	free := []string{"ClusterRole", "ClusterRoleBinding", "Namespace", "CustomResourceDefinition", "APIService", "PriorityClass",
		"StorageClass", "PersistentVolume", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"}
	if metadata != nil && metadata["namespace"] == nil && !slices.Contains(free, o.Kind) {
		metadata["namespace"] = "d"
	}
	o.Namespace, _ = metadata["namespace"].(string)
	return o
}

func withoutNulls(object map[string]any) map[string]any {
	out := maps.Clone(object)
	for name, v := range out {
		if v == nil {
			delete(out, name)
		} else if m, ok := v.(map[string]any); ok {
			out[name] = withoutNulls(m)
		}
	}
	return out
}

// nativeTypes are the schemas of native kinds. Reading them takes long.
var nativeTypes = sync.OnceValue(func() managedfields.TypeConverter {
	return applyconfigurations.NewTypeConverter(clientscheme.Scheme)
})

// openAPI is the document that an API server publishes for a kind of a CustomResourceDefinition.
func openAPI(gvk schema.GroupVersionKind, properties any) []byte {
	described, _ := object.Copy(properties).(map[string]any)
	if described == nil {
		described = map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	}
	fields, _ := described["properties"].(map[string]any)
	if fields == nil {
		fields = map[string]any{}
		described["properties"] = fields
	}
	fields["apiVersion"], fields["kind"] = map[string]any{"type": "string"}, map[string]any{"type": "string"}
	fields["metadata"] = map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	described["x-kubernetes-group-version-kind"] = []any{map[string]any{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind}}
	raw, err := json.Marshal(map[string]any{
		"openapi": "3.0.0", "info": map[string]any{"title": "t", "version": "1"}, "paths": map[string]any{},
		"components": map[string]any{"schemas": map[string]any{"x." + gvk.Version + "." + gvk.Kind: described}},
	})
	if err != nil {
		panic(err)
	}
	return raw
}

// asIs converts, defaults and creates nothing: one version is enough.
type asIs struct{}

func (asIs) Convert(_, _, _ any) error { return nil }
func (asIs) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}
func (asIs) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
func (asIs) Default(runtime.Object) {}
func (asIs) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

// converterOf reads the schemas of an OpenAPI document.
func converterOf(t testing.TB, document []byte) managedfields.TypeConverter {
	t.Helper()
	var doc spec3.OpenAPI
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatal(err)
	}
	out, err := managedfields.NewTypeConverter(doc.Components.Schemas, false)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

package engine

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Each entry of managedFields names the API version that its manager wrote. To see what a manager owns, the API server converts the object
// to that version (structured-merge-diff v6.4.2 merge/update.go). Without a conversion webhook, custom resources change only their
// apiVersion on conversion, so this package can convert them. It does not know the result of a webhook or of the server's own conversion:
// it assumes that the fields are the same at both versions, and verdicts that depend on this are not certain (uncertainty.go).

// versionedTypes are the types of one kind at the versions that managers wrote.
type versionedTypes struct {
	// TypeConverter is for the version of Helm's apply.
	managedfields.TypeConverter
	gvk schema.GroupVersionKind
	// known are the other versions with types of their own.
	known map[schema.GroupVersion]managedfields.TypeConverter
	// guessed are the other versions, which are assumed to have the same fields.
	guessed []schema.GroupVersion
	// ownsStatus is set if an apply writes the status like any other field (kinds.Shape.PlainStatus).
	ownsStatus bool
}

// ObjectToTyped reads an object with the types of its version.
func (t versionedTypes) ObjectToTyped(obj runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	gv := obj.GetObjectKind().GroupVersionKind().GroupVersion()
	if other := t.known[gv]; other != nil {
		return other.ObjectToTyped(obj, options...)
	}
	if u, ok := obj.(*unstructured.Unstructured); ok && slices.Contains(t.guessed, gv) {
		obj = atVersion(u, t.gvk.GroupVersion())
	}
	return t.TypeConverter.ObjectToTyped(obj, options...)
}

// canRead reports whether a manifest fits the types of the version of Helm's apply. The server checks that before it reads what
// others wrote (apimachinery v0.37.1 pkg/util/managedfields/internal/structuredmerge.go Apply).
func (t versionedTypes) canRead(manifest map[string]any) bool {
	_, err := t.TypeConverter.ObjectToTyped(&unstructured.Unstructured{Object: manifest})
	return err == nil
}

func (t versionedTypes) versions() []schema.GroupVersion {
	return slices.AppendSeq(append([]schema.GroupVersion{t.gvk.GroupVersion()}, t.guessed...), maps.Keys(t.known))
}

// withoutStatus returns the filters that remove the status of a manifest from an apply, as the API server does for kinds with a status
// subresource (k8s.io/apiserver v0.36.3 pkg/registry/rest/rest.go ResetFieldsStrategy). Every native kind with a status has the
// subresource.
func (t versionedTypes) withoutStatus() map[fieldpath.APIVersion]fieldpath.Filter {
	if t.ownsStatus {
		return nil
	}
	out := map[fieldpath.APIVersion]fieldpath.Filter{}
	for _, gv := range t.versions() {
		out[fieldpath.APIVersion(gv.String())] = fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie("status")))
	}
	return out
}

// ownTypes returns the types of a kind at the version of Helm's apply. Known reports whether its schema is known; without a schema, every
// list is one value.
func (c Writer) ownTypes(gvk schema.GroupVersionKind) (types managedfields.TypeConverter, known bool) {
	if kinds.NativeApply().Scheme.Recognizes(gvk) {
		return kinds.NativeApply().Types, true
	}
	if types := c.ApplyTypes[gvk.GroupVersion()]; types != nil {
		return types.Converter, true
	}
	return managedfields.NewDeducedTypeConverter(), false
}

// typesOf returns the types for applying an object. The error is the server's message about a version that it cannot convert to.
func (c Writer) typesOf(ref object.Ref, desired, live map[string]any) (out versionedTypes, uncertainties []Uncertainty, err error) {
	out = versionedTypes{gvk: ref.GVK(), known: map[schema.GroupVersion]managedfields.TypeConverter{}}
	var known bool
	if out.TypeConverter, known = c.ownTypes(out.gvk); !known {
		uncertainties = append(uncertainties, Uncertainty{
			Reason: "the schema of the kind is not known, so its lists are taken as one value each",
		})
	}
	others := otherVersions(live, ref.APIVersion())
	if kinds.NativeApply().Scheme.Recognizes(out.gvk) {
		out.guessed = slices.DeleteFunc(others, func(gv schema.GroupVersion) bool { return isUnserved(gv.WithKind(ref.Kind), ref.Group) })
		return out, uncertainties, nil
	}
	definition := c.Schemas[ref.GroupKind()]
	out.ownsStatus = c.ShapeOf(ref).PlainStatus
	for _, gv := range others {
		if err := unconvertible(definition, gv, ref, desired, live); err != nil {
			return out, uncertainties, err
		}
		if types := c.ApplyTypes[out.gvk.GroupVersion()].typesAt(out.gvk, gv, definition); types != nil {
			out.known[gv] = types
		} else {
			out.guessed = append(out.guessed, gv)
		}
	}
	return out, uncertainties, nil
}

// otherVersions lists the versions that managers wrote, except the one that Helm writes.
func otherVersions(live map[string]any, version string) []schema.GroupVersion {
	var out []schema.GroupVersion
	for _, entry := range owners.RawEntries(live) {
		wrote, _ := entry["apiVersion"].(string)
		gv, err := schema.ParseGroupVersion(wrote)
		if err == nil && wrote != "" && wrote != version && !slices.Contains(out, gv) {
			out = append(out, gv)
		}
	}
	return out
}

// oldestServer is the minor version of the oldest Kubernetes server that Helm 4 supports.
const oldestServer = 30

// isUnserved reports whether no supported server serves a native kind at a version. The server ignores what was written at that version.
func isUnserved(gvk schema.GroupVersionKind, group string) bool {
	if gvk.Group != group {
		return true // extensions/v1beta1 and its like
	}
	typed, _ := kinds.NativeApply().Scheme.New(gvk)
	ended, ok := typed.(interface{ APILifecycleRemoved() (major, minor int) })
	if !ok {
		return false
	}
	_, minor := ended.APILifecycleRemoved()
	return minor <= oldestServer
}

// unconvertible returns the API server's error if it cannot convert an object to a version that somebody wrote. The server then refuses
// every apply. Either the definition no longer has the version (apiextensions-apiserver v0.36.3 pkg/apiserver/conversion/converter.go
// ConvertToVersion), or the version's schema lacks a field of the object.
func unconvertible(s *kinds.CustomSchema, gv schema.GroupVersion, ref object.Ref, desired, live map[string]any) error {
	if s == nil {
		return nil
	}
	if _, known := s.Schema(gv.Version); gv.Group != ref.Group || !known {
		return fmt.Errorf("request to convert CR to an invalid group/version: %s", gv)
	}
	if s.Webhook {
		return nil
	}
	for _, object := range []map[string]any{live, desired} {
		if paths := undeclared(s, gv.Version, object); len(paths) > 0 {
			return fmt.Errorf(".%s: field not declared in schema (of %s, at which it was written too)", paths[0], gv)
		}
	}
	return nil
}

// undeclared lists the fields of a custom resource that the schema of a version does not have.
func undeclared(s *kinds.CustomSchema, version string, obj map[string]any) (paths []object.Path) {
	s.WalkDeclared(version, obj, func(path object.Path, _ any, schema map[string]any) {
		if schema == nil {
			paths = append(paths, path)
		}
	})
	return paths
}

// typesAt returns the types of a custom kind at another version, from its definition. It returns nil if the definition is not known, or
// if a webhook converts between the versions. It takes the fields that every object has from the version that was read.
func (t *ApplyTypes) typesAt(
	gvk schema.GroupVersionKind, gv schema.GroupVersion, definition *kinds.CustomSchema,
) managedfields.TypeConverter {
	if t == nil || definition == nil || definition.Webhook {
		return nil
	}
	root, _ := definition.Schema(gv.Version)
	own, other := t.schemaOf(gvk), kinds.ParseOpenAPI(root)
	if own == nil || other == nil {
		return nil
	}
	schemas := maps.Clone(t.schemas)
	schemas["at "+gv.String()] = withCommonFields(other, own, gv.WithKind(gvk.Kind))
	converter, err := managedfields.NewTypeConverter(schemas, false)
	if err != nil {
		return nil
	}
	return converter
}

// withCommonFields returns a schema of a kind that comes from its definition, as an OpenAPI document has it: with the fields that every
// object has, which own provides.
func withCommonFields(s, own *spec.Schema, gvk schema.GroupVersionKind) *spec.Schema {
	properties := map[string]spec.Schema{}
	maps.Copy(properties, s.Properties)
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		properties[name] = own.Properties[name]
	}
	s.Properties = properties
	s.AddExtension(KindExtension, []any{map[string]any{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind}})
	return s
}

// Redefined returns the types as they are once a kind has another definition; nil if they are not known.
func (t *ApplyTypes) Redefined(gvk schema.GroupVersionKind, definition *kinds.CustomSchema) *ApplyTypes {
	if t == nil {
		return nil
	}
	root, known := definition.Schema(gvk.Version)
	if !known {
		return t // they are of other kinds
	}
	own, next := t.schemaOf(gvk), kinds.ParseOpenAPI(root)
	schemas := maps.Clone(t.schemas)
	maps.DeleteFunc(schemas, func(_ string, s *spec.Schema) bool { return s == own })
	if own == nil { // the kind is new to its group
		own = t.anyKind()
	}
	if own == nil || next == nil {
		return nil
	}
	schemas[gvk.Kind] = withCommonFields(next, own, gvk)
	converter, err := managedfields.NewTypeConverter(schemas, false)
	if err != nil {
		return nil
	}
	return &ApplyTypes{converter, schemas}
}

// KindExtension names the kinds of a schema in an OpenAPI document.
const KindExtension = "x-kubernetes-group-version-kind"

// schemaOf finds the schema of a kind in the document.
func (t *ApplyTypes) schemaOf(gvk schema.GroupVersionKind) *spec.Schema {
	for _, name := range object.SortedKeys(t.schemas) {
		kinds, _ := t.schemas[name].Extensions[KindExtension].([]any)
		for _, kind := range kinds {
			k, _ := kind.(map[string]any)
			if k["group"] == gvk.Group && k["version"] == gvk.Version && k["kind"] == gvk.Kind {
				return t.schemas[name]
			}
		}
	}
	return nil
}

// anyKind returns the schema of some kind in the document, or nil if there is none.
func (t *ApplyTypes) anyKind() *spec.Schema {
	for _, name := range object.SortedKeys(t.schemas) {
		s := t.schemas[name]
		if _, isObject := s.Properties["metadata"]; isObject && s.Extensions[KindExtension] != nil {
			return s
		}
	}
	return nil
}

// atVersion returns an object at another version. Only the apiVersion differs.
func atVersion(u *unstructured.Unstructured, gv schema.GroupVersion) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: maps.Clone(u.Object)}
	out.SetAPIVersion(gv.String())
	return out
}

// nameConverter converts, defaults and creates objects of versions that differ only in their name. The field manager calls no other method
// of the interface, which is nil.
type nameConverter struct {
	runtime.ObjectConvertor
	versions []schema.GroupVersion
}

// ConvertToVersion converts to the versions that the converter has.
func (r nameConverter) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	u, ok := in.(*unstructured.Unstructured)
	target, one := to.(schema.GroupVersion)
	if !ok || !one || !slices.Contains(r.versions, target) {
		return nil, runtime.NewNotRegisteredErrForTarget("", nil, to)
	}
	if u.GroupVersionKind().GroupVersion() == target {
		return in, nil
	}
	return atVersion(u, target), nil
}

// Default does nothing: the normal form has the defaults.
func (nameConverter) Default(runtime.Object) {}

// New returns an empty object. If managedFields are empty, the API server compares live with this empty object to find what was there
// before the first apply. An object of a native kind has its required fields, as live does (apimachinery v0.37.1
// pkg/util/managedfields/internal/skipnonapplied.go Apply).
func (nameConverter) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	if typed, err := kinds.NativeApply().Scheme.New(gvk); err == nil {
		if u.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(typed); err != nil {
			return nil, err
		}
	}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

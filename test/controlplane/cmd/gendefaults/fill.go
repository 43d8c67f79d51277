package main

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// filler creates random objects of a Go type. They have the shape of valid objects
// as far as defaulting looks at it, but not their contents.
type filler struct {
	random *rand.Rand
	// chance is the probability that an optional field is filled.
	chance float64
	// open are the types that are being filled. No type is entered twice, which
	// ends recursive schemas.
	open []reflect.Type
}

// object returns a new filled object of k. Its status stays empty, because it is
// never part of a manifest.
func (f *filler) object(k kind) runtime.Object {
	value := reflect.New(k.goType)
	for i := range k.goType.NumField() {
		field := k.goType.Field(i)
		switch name, _ := jsonName(field); {
		case field.Type == reflect.TypeFor[metav1.TypeMeta](), name == "status":
		case field.Type == reflect.TypeFor[metav1.ObjectMeta]():
			f.metadata(value.Elem().Field(i).Addr().Interface().(*metav1.ObjectMeta))
			value.Elem().Field(i).FieldByName("Name").SetString(f.pick(textValues("name")))
		default:
			f.field(value.Elem().Field(i), field)
		}
	}
	object := value.Interface().(runtime.Object)
	object.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind)
	return object
}

// metadata fills the metadata that defaulting reads. The template of a pod has no
// name.
func (f *filler) metadata(meta *metav1.ObjectMeta) {
	if f.likely() {
		meta.Labels = map[string]string{"app": f.pick(textValues("label"))}
	}
	if f.likely() {
		meta.Annotations = map[string]string{f.pick(textValues("annotations")): f.pick(textValues("annotation"))}
	}
}

// likely decides whether an optional field is filled.
func (f *filler) likely() bool { return f.random.Float64() < f.chance }

// pick returns one of the values.
func (f *filler) pick(values []string) string { return values[f.random.IntN(len(values))] }

// structure fills the fields of a struct, or one of them if the struct is a union.
func (f *filler) structure(value reflect.Value) {
	t := value.Type()
	if slices.Contains(f.open, t) {
		return
	}
	f.open = append(f.open, t)
	defer func() { f.open = f.open[:len(f.open)-1] }()
	if isUnion(t.Name()) {
		// The number may be one more than there are members: then none is chosen.
		if i := f.random.IntN(t.NumField() + 1); i < t.NumField() {
			f.value(value.Field(i), t.Field(i))
		}
		return
	}
	for i := range t.NumField() {
		f.field(value.Field(i), t.Field(i))
	}
	repair(value)
}

// field fills one field or omits it. A struct that is held by value always exists,
// so its own fields decide.
func (f *filler) field(value reflect.Value, field reflect.StructField) {
	name, required := jsonName(field)
	if name == "-" || !field.IsExported() {
		return
	}
	if (value.Kind() == reflect.Struct && !isLeaf(value.Type())) || f.likely() || (required && f.random.IntN(4) > 0) {
		f.value(value, field)
	}
}

// value fills a value by its Go type.
func (f *filler) value(value reflect.Value, field reflect.StructField) {
	if f.special(value) {
		return
	}
	name, _ := jsonName(field)
	switch value.Kind() {
	case reflect.Struct:
		f.structure(value)
	case reflect.Pointer:
		if element := value.Type().Elem(); !slices.Contains(f.open, element) {
			value.Set(reflect.New(element))
			f.value(value.Elem(), field)
		}
	case reflect.Slice:
		f.slice(value, field)
	case reflect.Map:
		f.mapping(value, field)
	case reflect.String:
		if value.Type().PkgPath() == "" {
			value.SetString(f.pick(textValues(name)))
		} else {
			value.SetString(f.pick(enumValues(value.Type().Name())))
		}
	case reflect.Bool:
		value.SetBool(f.random.IntN(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		value.SetInt(int64([]int{0, 1, 2, 30, 8080}[f.random.IntN(5)]))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		value.SetUint(uint64(f.random.IntN(100)))
	case reflect.Float32, reflect.Float64:
		value.SetFloat(float64(f.random.IntN(8)) / 2)
	}
}

// slice fills a list with one item or two.
func (f *filler) slice(value reflect.Value, field reflect.StructField) {
	element := value.Type().Elem()
	if element.Kind() == reflect.Uint8 {
		value.SetBytes([]byte(f.pick(textValues(""))))
		return
	}
	if slices.Contains(f.open, element) || element.Kind() == reflect.Interface {
		return
	}
	length := 1
	if f.random.IntN(4) == 0 {
		length = 2
	}
	value.Set(reflect.MakeSlice(value.Type(), length, length))
	for i := range length {
		f.value(value.Index(i), field)
	}
}

// mapping fills a map with one key or two.
func (f *filler) mapping(value reflect.Value, field reflect.StructField) {
	element := value.Type().Elem()
	if slices.Contains(f.open, element) {
		return
	}
	value.Set(reflect.MakeMap(value.Type()))
	for range 1 + f.random.IntN(2) {
		key, item := reflect.New(value.Type().Key()).Elem(), reflect.New(element).Elem()
		f.value(key, reflect.StructField{})
		f.value(item, field)
		value.SetMapIndex(key, item)
	}
}

// special fills types whose JSON differs from their Go fields, and reports whether
// value has such a type.
func (f *filler) special(value reflect.Value) bool {
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	switch into := value.Addr().Interface().(type) {
	case *metav1.Time:
		*into = metav1.NewTime(day)
	case *metav1.MicroTime:
		*into = metav1.NewMicroTime(day)
	case *metav1.Duration:
		into.Duration = time.Minute
	case *metav1.ObjectMeta:
		f.metadata(into)
	case *resource.Quantity:
		*into = resource.MustParse(f.pick(quantityValues()))
	case *intstr.IntOrString:
		*into = []intstr.IntOrString{intstr.FromInt32(0), intstr.FromInt32(2), intstr.FromString("http"), intstr.FromString("30%")}[f.random.IntN(4)]
	case *runtime.RawExtension:
		into.Raw = json.RawMessage(`{"key":"value"}`)
	case *apiextensionsv1.JSON:
		into.Raw = json.RawMessage(`"value"`)
	case *apiextensionsv1beta1.JSON:
		into.Raw = json.RawMessage(`"value"`)
	default:
		return isLeaf(value.Type())
	}
	return true
}

// isLeaf reports whether a struct is one value in JSON. The types of CRD schemas
// that are either a struct or another value stay empty, because nothing below them
// is ever defaulted.
func isLeaf(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && (reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) ||
		t.Implements(reflect.TypeFor[json.Marshaler]()))
}

// jsonName returns a field's name in JSON: "" for an inlined field, and "-" for one
// that is not in JSON. Required is set for a field that is written even if it is
// empty.
func jsonName(field reflect.StructField) (name string, required bool) {
	tag := field.Tag.Get("json")
	name, rest, _ := strings.Cut(tag, ",")
	if tag == "" {
		return field.Name, true
	}
	inlined := name == "" && field.Anonymous
	return name, !inlined && !strings.Contains(rest, "omit")
}

package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/install"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/controlplane" // registers every built-in group
)

// kind is one external version of an API object.
type kind struct {
	schema.GroupVersionKind
	goType reflect.Type
}

// String returns the name of the kind in the pairs: "apps/v1 Deployment".
func (k kind) String() string {
	return k.GroupVersion().String() + " " + k.Kind
}

// newScheme registers the types and the defaulting of all API groups.
func newScheme() *runtime.Scheme {
	apiextensions.Install(legacyscheme.Scheme)
	apiregistration.Install(legacyscheme.Scheme)
	return legacyscheme.Scheme
}

// listKinds returns every versioned kind that can be in a manifest: it has metadata
// and is not a list.
func listKinds(scheme *runtime.Scheme) []kind {
	object := reflect.TypeFor[metav1.Object]()
	var kinds []kind
	for gvk, goType := range scheme.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal || !reflect.PointerTo(goType).Implements(object) {
			continue
		}
		kinds = append(kinds, kind{gvk, goType})
	}
	slices.SortFunc(kinds, func(a, b kind) int { return strings.Compare(a.String(), b.String()) })
	return kinds
}

// applyDefaults returns the object before and after defaulting, as the API server
// would have it: the generated object passes through JSON first, like a manifest.
func applyDefaults(scheme *runtime.Scheme, k kind, generated runtime.Object) (in, out runtime.Object, err error) {
	text, err := json.Marshal(generated)
	if err != nil {
		return nil, nil, fmt.Errorf("encode %s: %w", k, err)
	}
	for _, target := range []*runtime.Object{&in, &out} {
		object := reflect.New(k.goType).Interface()
		if err := json.Unmarshal(text, object); err != nil {
			return nil, nil, fmt.Errorf("decode %s: %w", k, err)
		}
		*target = object.(runtime.Object)
	}
	scheme.Default(out)
	return in, out, nil
}

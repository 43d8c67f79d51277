package e2e

import (
	"regexp"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubectl/pkg/validation"
	"sigs.k8s.io/yaml"
)

// validators are factories of Helm 3 and Helm 4 that make the schema by which Helm checks a manifest.
type validators interface {
	Validator(directive string) (validation.Schema, error)
}

// validatedKinds are the native kinds whose manifests the API server validates itself. Helm asks that for each manifest, by the OpenAPI
// document of its group (k8s.io/cli-runtime v0.37.1 pkg/resource/query_param_verifier_v3.go HasSupport), and reading these documents took
// half of the processor time of the tests. The answer of a server does not change, so it is asked once for each kind.
type validatedKinds struct{ known sync.Map }

// validator returns the schema of a factory, which is not asked again about a native kind that it has accepted.
func (v *validatedKinds) validator(of validators, directive string) (validation.Schema, error) {
	next, err := of.Validator(directive)
	if err != nil || directive != metav1.FieldValidationStrict {
		return next, err
	}
	return validatedSchema{next, v}, nil
}

// unpatched are the native kinds without the verb patch.
var unpatched = regexp.MustCompile(`(List|Review|Request|Options|Status)$|^(Binding|Eviction|Scale)$`)

// validatedSchema asks next about kinds that are not known.
type validatedSchema struct {
	next validation.Schema
	*validatedKinds
}

// ValidateBytes returns the error of the schema, or nil for a kind that the API server validates. Nobody can patch a list, a review or a
// subresource, so Helm validates those itself.
func (s validatedSchema) ValidateBytes(data []byte) error {
	var of metav1.TypeMeta
	if yaml.Unmarshal(data, &of) != nil || unpatched.MatchString(of.Kind) ||
		!clientscheme.Scheme.Recognizes(schema.FromAPIVersionAndKind(of.APIVersion, of.Kind)) {
		return s.next.ValidateBytes(data)
	}
	if _, accepted := s.known.Load(of); accepted {
		return nil
	}
	err := s.next.ValidateBytes(data)
	if err == nil {
		s.known.Store(of, true)
	}
	return err
}

package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// ApplyTypes is what the API's OpenAPI v3 says about the kinds of one group and version. Server-side apply of custom resources needs it.
type ApplyTypes struct {
	Converter managedfields.TypeConverter
	schemas   map[string]*spec.Schema
}

// NewApplyTypes reads an OpenAPI v3 document as the API server publishes it for one group and version.
func NewApplyTypes(document []byte) (*ApplyTypes, error) {
	var doc spec3.OpenAPI
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	if doc.Components == nil {
		return nil, errors.New("reading the OpenAPI document: it has no schemas")
	}
	converter, err := managedfields.NewTypeConverter(doc.Components.Schemas, false)
	if err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	return &ApplyTypes{converter, doc.Components.Schemas}, nil
}

// serverSide predicts Helm 4's server-side apply of one object. It runs the API server's own field manager, the code that
// answers such a request (k8s.io/apimachinery v0.37 pkg/util/managedfields), on live and its managedFields. Validation,
// admission and defaulting are not part of it; their rules are applied to its result.
type serverSide struct {
	manager *managedfields.FieldManager
	types   versionedTypes
	// deployer is the field manager of the apply.
	deployer string
}

// Conflict is one field that another manager owns with another value.
type Conflict struct {
	// Field is the path as the server writes it: .spec.template.spec.containers[name="web"].image.
	Field string
	// Message is the server's: conflict with "kubectl-patch" using apps/v1.
	Message string
}

// newServerSide prepares applies of one kind by a field manager.
func newServerSide(types versionedTypes, deployer string) (serverSide, error) {
	gvk, create := types.gvk, managedfields.NewDefaultFieldManager
	if !kinds.NativeApply().Scheme.Recognizes(gvk) {
		create = managedfields.NewDefaultCRDFieldManager
	}
	as := nameConverter{versions: types.versions()}
	m, err := create(types, as, as, as, gvk, gvk.GroupVersion(), "", types.withoutStatus())
	if err != nil {
		return serverSide{}, fmt.Errorf("preparing a server-side apply of %s: %w", gvk.Kind, err)
	}
	return serverSide{manager: m, types: types, deployer: deployer}, nil
}

// result returns live after an apply of desired. It changes neither of them. The result may be live itself.
func (s serverSide) result(desired, live map[string]any, force bool) (Written, error) {
	if s.types.appliesNothing(s.deployer, desired, live) {
		return Written{Engine: report.EngineApply, Result: live}, nil
	}
	out, err := s.apply(desired, live, force)
	conflicts := conflictsOf(err)
	if len(conflicts) == 0 {
		return Written{Engine: report.EngineApply, Result: out}, err
	}
	refusal := err.Error()
	out, err = s.apply(desired, live, true)
	return Written{Engine: report.EngineApply, Result: out, Conflicts: conflicts, Refusal: refusal}, err
}

func (s serverSide) apply(desired, live map[string]any, force bool) (out map[string]any, err error) {
	defer func() {
		if recover() != nil {
			err = errApplyPanic
		}
	}()
	before := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(live)}
	target := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(desired)}
	before.SetGroupVersionKind(s.types.gvk)
	got, err := s.manager.Apply(before, target, s.deployer, force)
	if err != nil {
		return nil, err
	}
	u, ok := got.(*unstructured.Unstructured)
	if !ok {
		return nil, errApplyPanic
	}
	return u.Object, nil
}

var errApplyPanic = errors.New("the API server's field manager crashes on the object")

// conflictsOf returns the conflicts of a refusal, sorted: the server lists managers in no fixed order.
func conflictsOf(err error) []Conflict {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var out []Conflict
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			out = append(out, Conflict{Field: cause.Field, Message: cause.Message})
		}
	}
	order.Sort(out, func(a, b Conflict) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Message, b.Message))
	})
	return out
}

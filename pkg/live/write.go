package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Get reads one object as it is now; nil where the server says that it is not there. A read is repeated like those of Read.
func (c *Cluster) Get(ctx context.Context, ref object.Ref) (map[string]any, error) {
	at, problem := c.aim(ref)
	if problem != nil {
		return nil, at.unasked(problem)
	}
	object, err := c.client(at).Get(ctx, ref.Name, metav1.GetOptions{})
	switch {
	case err == nil && !at.is(object):
		return nil, apierrors.NewBadRequest(at.answeredWith(object).Message)
	case err == nil:
		return object.Object, nil
	case isObjectNotFound(err):
		return nil, nil
	}
	return nil, at.told(err)
}

// Write sends one request as a field manager, once, and gives the object as it is then. Neither this package nor client-go
// repeats it: after a failure it is not known whether it took place, and only who planned it can look and decide. With dryRun
// nothing is stored; what cannot be tried safely is refused unsent, as DryRun does.
//
// Errors are those of the API machinery, with the server's words cut to what names places and reasons. They may still quote
// a short value, which threeway's Comparison.Scrub masks.
func (c *Cluster) Write(ctx context.Context, request threeway.Request, manager string, dryRun bool) (map[string]any, error) {
	at, problem := c.aim(request.Ref)
	var trial []string
	if dryRun {
		trial = []string{metav1.DryRunAll}
		if reason := c.unsafeKinds(ctx, []threeway.Request{request})[kindOf(request.Ref)]; problem == nil && reason != "" {
			problem = errors.New(reason)
		}
	}
	if problem != nil {
		return nil, at.unasked(problem)
	}
	body, err := bodyOf(request)
	if err != nil {
		return nil, at.unasked(err)
	}
	object, err := c.write(ctx, at, request, body, manager, trial)
	if err != nil {
		return nil, at.told(err)
	}
	return object.Object, nil
}

// aim finds out how an object is asked for, or why it cannot be.
func (c *Cluster) aim(ref object.Ref) (target, error) {
	r, served, err := c.served.find(kindOf(ref))
	at := target{ref, r}
	switch {
	case err != nil:
		return at, err
	case !served:
		return at, errors.New("the server does not serve " + ref.APIVersion() + " " + ref.Kind)
	case at.refusal() != "":
		return at, errors.New(at.refusal())
	}
	return at, nil
}

// bodyOf is the object that a request other than a patch sends; nil for a patch.
func bodyOf(request threeway.Request) (*unstructured.Unstructured, error) {
	if request.Method == threeway.MethodPatch {
		return nil, nil
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(request.Body); err != nil {
		// The decoder's words may quote the body.
		return nil, fmt.Errorf("the %s that would be sent is not an object of the API", request.Method)
	}
	return object, nil
}

// write sends one request as Helm and kubectl do (k8s.io/cli-runtime v0.37.1 pkg/resource/helper.go: Create, Patch, Replace).
// Strict validation is for where Helm asks for it, an apply or Helm 4's replacement; of a JSON patch that fails it, the server
// echoes the patched object.
func (c *Cluster) write(ctx context.Context, at target, request threeway.Request, object *unstructured.Unstructured,
	manager string, trial []string) (*unstructured.Unstructured, error) {
	client := c.client(at)
	switch request.Method {
	case threeway.MethodCreate:
		object.SetResourceVersion("")
		return client.Create(ctx, object, metav1.CreateOptions{DryRun: trial, FieldManager: manager})
	case threeway.MethodReplace:
		options := metav1.UpdateOptions{DryRun: trial, FieldManager: manager}
		if request.Strict {
			options.FieldValidation = metav1.FieldValidationStrict
		}
		return client.Update(ctx, object, options)
	case threeway.MethodPatch:
	}
	options := metav1.PatchOptions{DryRun: trial, FieldManager: manager}
	switch types.PatchType(request.PatchType) {
	case types.ApplyYAMLPatchType: // helm v4.3.1 pkg/kube/client.go patchResourceServerSide
		options.Force, options.FieldValidation = &request.Force, metav1.FieldValidationStrict
	case types.JSONPatchType:
		options.FieldValidation = metav1.FieldValidationIgnore
	case types.MergePatchType, types.StrategicMergePatchType, types.ApplyCBORPatchType:
	}
	return client.Patch(ctx, request.Ref.Name, types.PatchType(request.PatchType), request.Body, options)
}

// unasked is the refusal of a request that was not sent, in the form of those that the server sends.
func (t target) unasked(problem error) error {
	return apierrors.NewBadRequest("cannot ask for " + t.String() + ": " + strings.TrimPrefix(oneLine(problem.Error()), notAsked))
}

// told is the server's refusal, of its kind and code, in words that can be shown: without long values, and without any of a
// Secret's. A webhook chooses the code of its refusal; here it gets the one that says what it is.
func (t target) told(err error) error {
	var refusal apierrors.APIStatus
	if !errors.As(err, &refusal) {
		var sent *url.Error
		if errors.As(err, &sent) {
			return sent.Err // the reader knows the server by then
		}
		return err
	}
	status := refusal.Status()
	status.Message = t.said(err)
	if deniedByAdmission(err.Error()) {
		status.Code, status.Reason = http.StatusForbidden, metav1.StatusReasonForbidden
	}
	if status.Details != nil {
		details := *status.Details
		details.Causes = make([]metav1.StatusCause, len(status.Details.Causes))
		for i, cause := range status.Details.Causes {
			details.Causes[i] = metav1.StatusCause{Type: cause.Type, Field: cause.Field}
		}
		status.Details = &details
	}
	return &apierrors.StatusError{ErrStatus: status}
}

// once is a REST client whose writes client-go does not repeat. It would, up to ten times, whenever an answer of 429 or 5xx
// says Retry-After (k8s.io/client-go v0.37.1 rest/with_retry.go IsNextRetry).
type once struct{ rest.Interface }

// Post is a request to create.
func (o once) Post() *rest.Request { return o.Interface.Post().MaxRetries(0) }

// Put is a request to replace.
func (o once) Put() *rest.Request { return o.Interface.Put().MaxRetries(0) }

// Patch is a request to change.
func (o once) Patch(kind types.PatchType) *rest.Request { return o.Interface.Patch(kind).MaxRetries(0) }

// Delete is a request to delete.
func (o once) Delete() *rest.Request { return o.Interface.Delete().MaxRetries(0) }

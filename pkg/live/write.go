package live

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Get reads one object as it is now; it returns nil if the server says that the object does not exist. A read is
// repeated like those of Read.
func (c *Cluster) Get(ctx context.Context, ref object.Ref) (map[string]any, error) {
	t, problem := c.findTarget(ref)
	if problem != nil {
		return nil, t.notSentError(problem)
	}
	object, err := c.client(t).Get(ctx, ref.Name, metav1.GetOptions{})
	switch {
	case err == nil && !t.matches(object):
		return nil, apierrors.NewBadRequest(t.otherObjectError(object).Message)
	case err == nil:
		return object.Object, nil
	case isObjectNotFound(err):
		return nil, nil
	}
	return nil, t.shownError(err)
}

// Write sends one request as a field manager, once, and returns the resulting object. Neither this package nor
// client-go repeats the request: after a failure nobody knows whether the write took place, and only the caller can
// look and decide. With dryRun the server stores nothing; Write then refuses, without sending it, a request that has
// no safe dry run, as DryRun does.
//
// Errors have the types of the API machinery. The server's message is cut to the places and reasons. They may
// still quote a short value, which threeway's Comparison.Scrub masks.
func (c *Cluster) Write(ctx context.Context, request cluster.Request, manager string, dryRun bool) (map[string]any, error) {
	t, problem := c.findTarget(request.Ref)
	var trial []string
	if dryRun {
		trial = []string{metav1.DryRunAll}
		if reason := c.unsafeKinds(ctx, []cluster.Request{request})[request.Ref.GVK()]; problem == nil && reason != "" {
			problem = errors.New(reason)
		}
	}
	if problem != nil {
		return nil, t.notSentError(problem)
	}
	body, err := requestObject(request)
	if err != nil {
		return nil, t.notSentError(err)
	}
	object, err := c.write(ctx, t, request, body, manager, trial)
	if err != nil {
		return nil, t.shownError(err)
	}
	return object.Object, nil
}

// findTarget returns the target of an object, or the reason why it cannot be asked for.
func (c *Cluster) findTarget(ref object.Ref) (target, error) {
	r, served, err := c.served.find(ref.GVK())
	t := target{ref, r}
	switch {
	case err != nil:
		return t, err
	case !served:
		return t, errors.New("the server does not serve " + ref.APIVersion() + " " + ref.Kind)
	case t.invalidReason() != "":
		return t, errors.New(t.invalidReason())
	}
	return t, nil
}

// requestObject returns the object that a create or a replacement sends, and nil for a patch.
func requestObject(request cluster.Request) (*unstructured.Unstructured, error) {
	if request.Method == cluster.MethodPatch {
		return nil, nil
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(request.Body); err != nil {
		// The decoder's message may quote the body.
		return nil, fmt.Errorf("the body of the %s request is not an API object", request.Method)
	}
	return object, nil
}

// write sends one request as Helm and kubectl do (k8s.io/cli-runtime v0.37.1 pkg/resource/helper.go: Create, Patch,
// Replace). It asks for strict validation where Helm does, which is an apply or Helm 4's replacement. A JSON patch
// that fails strict validation makes the server echo the patched object.
func (c *Cluster) write(ctx context.Context, t target, request cluster.Request, object *unstructured.Unstructured,
	manager string, trial []string) (*unstructured.Unstructured, error) {
	client := c.client(t)
	switch request.Method {
	case cluster.MethodCreate:
		object.SetResourceVersion("")
		return client.Create(ctx, object, metav1.CreateOptions{DryRun: trial, FieldManager: manager})
	case cluster.MethodReplace:
		options := metav1.UpdateOptions{DryRun: trial, FieldManager: manager}
		if request.Strict {
			options.FieldValidation = metav1.FieldValidationStrict
		}
		return client.Update(ctx, object, options)
	case cluster.MethodPatch:
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

// notSentError returns the error of a request that was not sent, in the form of the server's refusals.
func (t target) notSentError(problem error) error {
	return apierrors.NewBadRequest("no request was sent for " + t.String() + ": " + oneLine(problem.Error()))
}

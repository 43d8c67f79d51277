package live

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// DryRun sends each request as a field manager with dryRun=All and returns the server's answers. Nothing is stored. The
// result has one answer for each request, under its Ref. Answers contain the server's messages, shortened; like the errors
// of Read they may quote the object, and threeway's Comparison.Report masks the values in them.
//
// An API server behind the aggregation layer may ignore dryRun and store the object (k8s.io/cli-runtime v0.37.1
// pkg/resource/helper.go, Helper.ServerDryRun). DryRun therefore asks only about kinds that the Kubernetes API server serves
// itself: those of its own API groups, and those that a CustomResourceDefinition defines.
func (c *Cluster) DryRun(ctx context.Context, requests []threeway.Request, manager string) map[object.Ref]threeway.Answer {
	d := dryRun{Cluster: c, manager: manager, unsafe: c.unsafeKinds(ctx, requests)}
	for _, request := range requests {
		if request.Method == threeway.MethodCreate {
			d.created = append(d.created, request.Ref)
		}
	}
	out := make(map[object.Ref]threeway.Answer, len(requests))
	for i, answer := range inParallel(requests, func(r threeway.Request) threeway.Answer { return d.answer(ctx, r) }) {
		out[requests[i].Ref] = answer
	}
	return out
}

// dryRun is one dry run of many requests.
type dryRun struct {
	*Cluster
	manager string
	// unsafe maps each kind that must not be asked about to the reason.
	unsafe map[schema.GroupVersionKind]string
	// created are the objects that the requests would create. In a dry run none of them exists for the other requests.
	created []object.Ref
}

// answer sends one request and classifies what comes back. A panic becomes the answer of this request.
func (d dryRun) answer(ctx context.Context, request threeway.Request) (answer threeway.Answer) {
	t, problem := d.findTarget(request.Ref)
	defer func() {
		if p := recover(); p != nil {
			answer = threeway.Answer{Refused: t.panicError(p).Message}
		}
	}()
	reason, undiscovered := d.unsafe[kindOf(request.Ref)], (*groupError)(nil)
	switch {
	case errors.As(problem, &undiscovered):
		return threeway.Answer{Refused: t.objectError(verbOf(request.Method), problem).Message}
	case problem != nil:
		return threeway.Answer{Refused: problem.Error()}
	case reason != "":
		return threeway.Answer{Refused: "not asked: " + reason}
	}
	object, err := d.send(ctx, t, request)
	if err != nil {
		return d.answerForError(t, verbOf(request.Method), err)
	}
	return threeway.Answer{Object: object.Object}
}

// send sends the request that Helm would send, with dryRun. Helm reads the object just before it replaces it, and goes on
// if that read fails (k8s.io/cli-runtime v0.37.1 pkg/resource/helper.go Helper.Replace). So a replacement is sent again with
// the current resourceVersion if the object has changed since it was read for the comparison.
func (d dryRun) send(ctx context.Context, t target, request threeway.Request) (*unstructured.Unstructured, error) {
	object, err := requestObject(request)
	if err != nil {
		return nil, err
	}
	replaces := request.Method == threeway.MethodReplace
	for attempt := 1; ; attempt++ {
		if replaces && (object.GetResourceVersion() == "" || attempt > 1) {
			if live, err := d.client(t).Get(ctx, request.Ref.Name, metav1.GetOptions{}); err == nil {
				object.SetResourceVersion(live.GetResourceVersion())
			}
		}
		answer, err := d.write(ctx, t, request, object, d.manager, []string{metav1.DryRunAll})
		if !replaces || !apierrors.IsConflict(err) || attempt == maxAttempts {
			return answer, err
		}
	}
}

// unsafeKinds returns the requested kinds for which no dry run may be sent, because nothing proves that the Kubernetes API
// server itself serves them. Each has a reason.
func (c *Cluster) unsafeKinds(ctx context.Context, requests []threeway.Request) map[schema.GroupVersionKind]string {
	unsafe := map[schema.GroupVersionKind]string{}
	var custom []schema.GroupKind
	for _, request := range requests {
		kind := kindOf(request.Ref)
		if !isBuiltInGroup(kind.Group) {
			custom = append(custom, kind.GroupKind())
			unsafe[kind] = mayIgnoreDryRun(kind)
		}
	}
	for _, read := range c.definitions(ctx, custom) {
		for kind := range unsafe {
			switch {
			case kind.GroupKind() != read.kind:
			case read.err == nil && servesVersion(read.object, kind.Version):
				delete(unsafe, kind)
			case read.err != nil && !isObjectNotFound(read.err):
				unsafe[kind] = warning("", "get", read.resourceName(), read.err, mayIgnoreDryRun(kind)).Message
			}
		}
	}
	return unsafe
}

func mayIgnoreDryRun(kind schema.GroupVersionKind) string {
	return fmt.Sprintf("its API server may not support dry runs (%s is neither built in nor known to be defined by a "+
		"CustomResourceDefinition)", kind.GroupVersion())
}

// isBuiltInGroup reports whether the Kubernetes API server itself serves an API group. Such groups have types in client-go,
// except for the two parts of the server that bring types of their own.
func isBuiltInGroup(group string) bool {
	return scheme.Scheme.IsGroupRegistered(group) || group == "apiextensions.k8s.io" || group == "apiregistration.k8s.io"
}

// servesVersion reports whether a CustomResourceDefinition serves a version. Another API server may serve other versions of
// the same group.
func servesVersion(definition *unstructured.Unstructured, version string) bool {
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, v := range versions {
		if v, _ := v.(map[string]any); v["name"] == version && v["served"] == true {
			return true
		}
	}
	return false
}

func kindOf(ref object.Ref) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: ref.Group, Version: ref.Version, Kind: ref.Kind}
}

// verbOf returns the verb that RBAC uses for a method.
func verbOf(method threeway.Method) string {
	if method == threeway.MethodReplace {
		return "update"
	}
	return string(method)
}

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

// DryRun sends each request as a field manager with dryRun=All and returns what the server made of it. Nothing is stored. Each request has an
// answer in the result, under its Ref. Answers carry the server's words, shortened; like the errors of Read they may
// quote the object, and it is threeway's Comparison.Report that scrubs them of masked values.
//
// An API server behind the aggregation layer may not know dryRun and store the object (k8s.io/cli-runtime v0.37.1
// pkg/resource/helper.go, Helper.ServerDryRun). So only what the Kubernetes API server serves itself is asked about: its own
// API groups, and kinds that a CustomResourceDefinition defines.
func (c *Cluster) DryRun(ctx context.Context, requests []threeway.Request, manager string) map[object.Ref]threeway.Answer {
	t := trial{Cluster: c, manager: manager, unsafe: c.unsafeKinds(ctx, requests)}
	for _, request := range requests {
		if request.Method == threeway.MethodCreate {
			t.created = append(t.created, request.Ref)
		}
	}
	out := make(map[object.Ref]threeway.Answer, len(requests))
	for i, answer := range inParallel(requests, func(r threeway.Request) threeway.Answer { return t.ask(ctx, r) }) {
		out[requests[i].Ref] = answer
	}
	return out
}

// trial is one dry run of many requests.
type trial struct {
	*Cluster
	manager string
	// unsafe has a reason for each kind that must not be asked about.
	unsafe map[schema.GroupVersionKind]string
	// created are the objects that the requests would create. In a dry run, none of them is there for the others.
	created []object.Ref
}

// ask sends one request.
func (t trial) ask(ctx context.Context, request threeway.Request) (answer threeway.Answer) {
	at, problem := t.aim(request.Ref)
	defer func() {
		if p := recover(); p != nil {
			answer = threeway.Answer{Refused: at.panicked(p).Message}
		}
	}()
	reason, undiscovered := t.unsafe[kindOf(request.Ref)], (*groupError)(nil)
	switch {
	case errors.As(problem, &undiscovered):
		return threeway.Answer{Refused: at.fail(verbOf(request.Method), problem).Message}
	case problem != nil:
		return threeway.Answer{Refused: problem.Error()}
	case reason != "":
		return threeway.Answer{Refused: reason}
	}
	object, err := t.send(ctx, at, request)
	if err != nil {
		return t.answerOf(at, verbOf(request.Method), err)
	}
	return threeway.Answer{Object: object.Object}
}

// send writes as Helm does, but for dryRun. A replacement is of whatever is there then, which Helm reads just before (k8s.io/cli-runtime
// v0.37.1 pkg/resource/helper.go Helper.Replace), and it goes on where that cannot be read. So one that meets an object which has
// moved since it was read for the comparison is made again.
func (t trial) send(ctx context.Context, at target, request threeway.Request) (*unstructured.Unstructured, error) {
	object, err := bodyOf(request)
	if err != nil {
		return nil, err
	}
	replaces := request.Method == threeway.MethodReplace
	for attempt := 1; ; attempt++ {
		if replaces && (object.GetResourceVersion() == "" || attempt > 1) {
			if live, err := t.client(at).Get(ctx, request.Ref.Name, metav1.GetOptions{}); err == nil {
				object.SetResourceVersion(live.GetResourceVersion())
			}
		}
		answer, err := t.write(ctx, at, request, object, t.manager, []string{metav1.DryRunAll})
		if !replaces || !apierrors.IsConflict(err) || attempt == maxAttempts {
			return answer, err
		}
	}
}

// unsafeKinds finds the kinds of which it is not known that the Kubernetes API server itself serves them, and says why.
func (c *Cluster) unsafeKinds(ctx context.Context, requests []threeway.Request) map[schema.GroupVersionKind]string {
	unsafe := map[schema.GroupVersionKind]string{}
	var custom []schema.GroupKind
	for _, request := range requests {
		kind := kindOf(request.Ref)
		if !builtIn(kind.Group) {
			custom = append(custom, kind.GroupKind())
			unsafe[kind] = unknowing(kind)
		}
	}
	for _, read := range c.definitions(ctx, custom) {
		for kind := range unsafe {
			switch {
			case kind.GroupKind() != read.kind:
			case read.err == nil && defines(read.object, kind.Version):
				delete(unsafe, kind)
			case read.err != nil && !isObjectNotFound(read.err):
				unsafe[kind] = warning("", "get", read.noun(), read.err, unknowing(kind)).Message
			}
		}
	}
	return unsafe
}

// notAsked begins the reason for which a dry run was not sent.
const notAsked = "not asked: "

func unknowing(kind schema.GroupVersionKind) string {
	return fmt.Sprintf(notAsked+"its API server may not know dry runs "+
		"(%s is neither built in nor known to be defined by a CustomResourceDefinition)", kind.GroupVersion())
}

// builtIn tells the API groups of the Kubernetes API server: those of client-go's types, and those of the two parts of
// that server which have types of their own.
func builtIn(group string) bool {
	return scheme.Scheme.IsGroupRegistered(group) || group == "apiextensions.k8s.io" || group == "apiregistration.k8s.io"
}

// defines tells whether a CustomResourceDefinition serves a version. Another version of the group may come from elsewhere.
func defines(definition *unstructured.Unstructured, version string) bool {
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

// verbOf is what a role calls a method.
func verbOf(method threeway.Method) string {
	if method == threeway.MethodReplace {
		return "update"
	}
	return string(method)
}

package live

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// DryRun sends each request as a field manager with dryRun=All and returns the server's answers. Nothing is stored. The
// result has one answer for each request, under its Ref. Answers contain the server's messages, shortened; like the errors
// of Read they may quote the object, and threeway's Comparison.Report masks the values in them.
//
// An API server behind the aggregation layer may ignore dryRun and store the object (k8s.io/cli-runtime v0.37.1
// pkg/resource/helper.go, Helper.ServerDryRun). DryRun therefore asks only about kinds that the Kubernetes API server serves
// itself: those of its own API groups, and those that a CustomResourceDefinition defines.
func (c *Cluster) DryRun(ctx context.Context, requests []cluster.Request, manager string) map[object.Ref]cluster.Answer {
	d := dryRun{Cluster: c, manager: manager, unsafe: c.unsafeKinds(ctx, requests)}
	for _, request := range requests {
		if request.Method == cluster.MethodCreate {
			d.created = append(d.created, request.Ref)
		}
	}
	out := make(map[object.Ref]cluster.Answer, len(requests))
	for i, answer := range inParallel(requests, func(r cluster.Request) cluster.Answer { return d.answer(ctx, r) }) {
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
func (d dryRun) answer(ctx context.Context, request cluster.Request) (answer cluster.Answer) {
	t, problem := d.findTarget(request.Ref)
	defer func() {
		if p := recover(); p != nil {
			answer = cluster.Answer{Refused: t.panicError(p).Message}
		}
	}()
	reason := d.unsafe[request.Ref.GVK()]
	switch {
	case is[*groupError](problem):
		return cluster.Answer{Refused: t.objectError(verbOf(request.Method), problem).Message}
	case problem != nil:
		return cluster.Answer{Refused: problem.Error()}
	case reason != "":
		return cluster.Answer{Refused: "not asked: " + reason}
	}
	object, err := d.send(ctx, t, request)
	if err != nil {
		return answerForError(t, verbOf(request.Method), err, d.created)
	}
	return cluster.Answer{Object: object.Object}
}

// send sends the request that Helm would send, with dryRun. Helm reads the object just before it replaces it, and goes on
// if that read fails (k8s.io/cli-runtime v0.37.1 pkg/resource/helper.go Helper.Replace). So a replacement is sent again with
// the current resourceVersion if the object has changed since it was read for the comparison.
func (d dryRun) send(ctx context.Context, t target, request cluster.Request) (*unstructured.Unstructured, error) {
	object, err := requestObject(request)
	if err != nil {
		return nil, err
	}
	replaces := request.Method == cluster.MethodReplace
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

// verbOf returns the verb that RBAC uses for a method.
func verbOf(method cluster.Method) string {
	if method == cluster.MethodReplace {
		return "update"
	}
	return string(method)
}

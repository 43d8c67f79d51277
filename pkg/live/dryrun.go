package live

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/retry"
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

// answerForError classifies the error of a dry run. An answer is Rejected only if Helm's own write would meet the same
// refusal. All other errors prove nothing about that write: another user may run the upgrade, a webhook may be back by then,
// and an object that is missing now may be created first: one of created, which the requests would create.
func answerForError(t target, verb string, err error, created []object.Ref) cluster.Answer {
	if !isRejection(err) {
		return cluster.Answer{Refused: t.cannotAskMessage(verb, err)}
	}
	message := t.serverMessage(err)
	if ref, found := missingObject(t.ref, err, created); found {
		return cluster.Answer{Refused: fmt.Sprintf("cannot be tried before Helm has created %s %q: %s", ref.Kind, ref.Name, message)}
	}
	return cluster.Answer{Rejected: message}
}

// isRejection reports whether the server judged the object and rejected it. All other errors mean that it could not judge.
// Where a code does not tell the two apart, the text of the API server does; its source is named beside each.
func isRejection(err error) bool {
	code, text := retry.Status(err), err.Error()
	switch {
	case apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return false // the answer comes from a proxy, or from a server that no longer has the resource
	case isAdmissionDenial(text):
		return true // a webhook chooses the code of its refusal
	case strings.Contains(text, "does not support dry run"):
		// k8s.io/apiserver v0.37.1 pkg/admission/plugin/webhook/errors/statuserror.go NewDryRunUnsupportedErr: a 400
		return false
	case isPermissionDenial(err), code == http.StatusUnauthorized, code == http.StatusRequestTimeout, code == http.StatusTooManyRequests:
		return false
	}
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError
}

// isPermissionDenial reports whether the user lacks a permission. Admission also answers 403: for a quota, for pod security,
// and for a namespace that is being deleted. The sentences are those of k8s.io/apiserver v0.37.1
// pkg/endpoints/handlers/responsewriters/errors.go forbiddenMessage, and of kubernetes v1.36.3
// pkg/registry/rbac/validation/rule.go ConfirmNoEscalation.
func isPermissionDenial(err error) bool {
	if !apierrors.IsForbidden(err) {
		return false
	}
	_, reason, _ := strings.Cut(err.Error(), "forbidden: ")
	return strings.HasPrefix(reason, `User "`) && strings.Contains(reason, " cannot ") ||
		strings.Contains(reason, "is attempting to grant RBAC permissions not currently held")
}

// cannotAskMessage returns the reason why the server could not be asked. objectError leaves out the server's message about a
// Secret, but the name of a webhook that failed is safe to show (k8s.io/apiserver v0.37.1 pkg/util/webhook/error.go
// ErrCallingWebhook.Error).
func (t target) cannotAskMessage(verb string, err error) string {
	message := t.objectError(verb, err).Message
	if _, after, found := strings.Cut(err.Error(), "failed calling webhook "); found && t.isSecret() {
		if name, quoted := strconv.QuotedPrefix(after); quoted == nil {
			message += ": failed calling webhook " + name
		}
	}
	return message
}

// missingObject returns the object that the server did not find, if the same upgrade creates it: a namespace, the service
// account of a pod, the role of a binding. The server names it by kind and name in `... "NAME" not found`
// (k8s.io/apimachinery v0.37.1 pkg/api/errors/errors.go NewNotFound), and admission repeats that sentence.
func missingObject(asked object.Ref, err error, created []object.Ref) (object.Ref, bool) {
	text := err.Error()
	if !strings.Contains(text, "found") {
		return object.Ref{}, false
	}
	lower := strings.ToLower(text)
	for _, ref := range created {
		named := strings.Contains(text, strconv.Quote(ref.Name)) || strings.Contains(text, " "+ref.Name+" ")
		if ref != asked && named && strings.Contains(lower, strings.ToLower(ref.Kind)) {
			return ref, true
		}
	}
	return object.Ref{}, false
}

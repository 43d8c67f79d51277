package live

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmdrift/helmdrift/internal/retry"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

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

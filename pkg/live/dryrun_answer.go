package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// answerForError classifies the error of a dry run. An answer is Rejected only if Helm's own write would meet the same
// refusal. All other errors prove nothing about that write: another user may run the upgrade, a webhook may be back by then,
// and an object that is missing now may be created first.
func (d dryRun) answerForError(t target, verb string, err error) threeway.Answer {
	if !isRejection(err) {
		return threeway.Answer{Refused: t.cannotAskMessage(verb, err)}
	}
	message := t.serverMessage(err)
	if ref, found := d.missingObject(t.ref, err); found {
		return threeway.Answer{Refused: fmt.Sprintf("cannot be tried before Helm has created %s %q: %s", ref.Kind, ref.Name, message)}
	}
	return threeway.Answer{Rejected: message}
}

// isRejection reports whether the server judged the object and rejected it. All other errors mean that it could not judge.
// Where a code does not tell the two apart, the text of the API server does; its source is named beside each.
func isRejection(err error) bool {
	code, text := statusCode(err), err.Error()
	switch {
	case apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return false // the answer comes from a proxy, or from a server that no longer has the resource
	case isAdmissionDenial(text):
		return true // a webhook chooses the code of its refusal
	case strings.Contains(text, "does not support dry run"):
		// k8s.io/apiserver v0.37.1 pkg/admission/plugin/webhook/errors/statuserror.go NewDryRunUnsupportedErr: a 400
		return false
	case isPermissionDenial(err):
		return false
	}
	switch code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError
}

// isAdmissionDenial reports whether a webhook or a policy denied the request (k8s.io/apiserver v0.37.1
// pkg/admission/plugin/webhook/errors/statuserror.go ToStatusErr, pkg/admission/plugin/policy/validating/dispatcher.go Dispatch,
// pkg/admission/plugin/policy/generic/policy_dispatcher.go).
func isAdmissionDenial(text string) bool {
	return strings.Contains(text, "admission webhook ") && strings.Contains(text, " denied the request") ||
		strings.Contains(text, " denied request: ")
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
func (d dryRun) missingObject(asked object.Ref, err error) (object.Ref, bool) {
	text := err.Error()
	if !strings.Contains(text, "found") {
		return object.Ref{}, false
	}
	lower := strings.ToLower(text)
	for _, ref := range d.created {
		named := strings.Contains(text, strconv.Quote(ref.Name)) || strings.Contains(text, " "+ref.Name+" ")
		if ref != asked && named && strings.Contains(lower, strings.ToLower(ref.Kind)) {
			return ref, true
		}
	}
	return object.Ref{}, false
}

// serverMessage returns the server's message as one short line. A value is kept whole or left out whole: nothing would
// recognise half of a secret as one.
func (t target) serverMessage(err error) string {
	if text, ok := t.fieldErrors(err); ok {
		return text
	}
	text := err.Error()
	if len(text) > maxDetail && t.isSecret() {
		return fmt.Sprintf("status %d; the message is left out, because it may quote the Secret", statusCode(err))
	}
	line, cut := shortLine(text)
	if i := strings.LastIndexByte(line, ' '); i > 0 && cut {
		return line[:i] + " …"
	}
	return oneLine(text)
}

// fieldErrors builds the message of an invalid object from the server's list of causes; ok is false if there is no list. The
// server's own sentence (k8s.io/apimachinery v0.37.1 pkg/api/errors/errors.go NewInvalid) quotes values as large as a whole
// pod template and has the reason after them. It names no object if the patched object could not be decoded.
func (t target) fieldErrors(err error) (message string, ok bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return "", false
	}
	head, _, found := strings.Cut(status.Status().Message, " is invalid: ")
	causes := status.Status().Details.Causes
	if !found || len(causes) == 0 {
		return "", false
	}
	if head = oneLine(head); head == `""` {
		head = t.String()
	}
	text := head + " is invalid: "
	for i, cause := range causes {
		part := oneLine(cause.Field) + ": " + oneLine(t.withoutValue(cause))
		if i > 0 && len(text)+len(part) > maxDetail {
			return fmt.Sprintf("%s, and %d more", text, len(causes)-i), true
		}
		if i > 0 {
			text += ", "
		}
		text += part
	}
	return text, true
}

// maxQuoted is the length up to which our messages repeat a value.
const maxQuoted = 60

// wholePatch is the field that the API server names if the patched object could not be decoded. The value is then the whole
// object (k8s.io/apiserver v0.37.1 pkg/endpoints/handlers/patch.go jsonPatcher.applyPatchToCurrentObject).
const wholePatch = "patch"

// withoutValue returns the message of a field error without its value, if the value is long or belongs to a Secret. The
// message is "TYPE: VALUE: DETAIL", without VALUE for some types (k8s.io/apimachinery v0.37.1
// pkg/util/validation/field/errors.go ErrorBody). VALUE is JSON, a quoted Go string, or, from old servers, Go syntax, whose
// end is only recognised by the beginning of DETAIL.
func (t target) withoutValue(cause metav1.StatusCause) string {
	word := field.ErrorType(cause.Type)
	switch word {
	case field.ErrorTypeInvalid, field.ErrorTypeTypeInvalid, field.ErrorTypeNotSupported, field.ErrorTypeNotFound,
		field.ErrorTypeDuplicate, field.ErrorTypeTooMany, field.ErrorTypeTooFew:
	default:
		return cause.Message
	}
	if t.isSecret() && cause.Field == wholePatch {
		return word.String() // the decoder's detail may quote what it cannot decode
	}
	rest, found := strings.CutPrefix(cause.Message, word.String()+": ")
	if !found {
		return cause.Message
	}
	length := valueLength(rest)
	if length <= maxQuoted && !t.isSecret() {
		return cause.Message
	}
	return word.String() + ": …" + rest[length:]
}

// valueLength returns the length of the value at the beginning of text.
func valueLength(text string) int {
	if quoted, err := strconv.QuotedPrefix(text); err == nil {
		return len(quoted)
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	var value json.RawMessage
	if decoder.Decode(&value) == nil {
		return int(decoder.InputOffset())
	}
	if i := strings.LastIndex(text, ": "); i >= 0 {
		return i
	}
	return len(text)
}

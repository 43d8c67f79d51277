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

// answerOf sorts what came back instead of an object. Rejected is only what Helm's own write would meet as well. All else
// says nothing about that write: the user who upgrades may be another one, a webhook may be back by then, and an object
// that is missing now may be created first.
func (t trial) answerOf(at target, verb string, err error) threeway.Answer {
	if !rejects(err) {
		return threeway.Answer{Refused: at.refused(verb, err)}
	}
	said := at.said(err)
	if ref, found := t.awaits(at.ref, err); found {
		return threeway.Answer{Refused: fmt.Sprintf(
			"cannot be tried before %s %q is there, which Helm creates as well: %s", ref.Kind, ref.Name, said)}
	}
	return threeway.Answer{Rejected: said}
}

// rejects tells a judgement on the object from a failure to judge.
func rejects(err error) bool {
	code, text := statusCode(err), err.Error()
	switch {
	case apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return false // not the API server's own words: a proxy's, or of a server that has lost the resource
	case deniedByAdmission(text):
		return true // a webhook chooses the code of its refusal
	case strings.Contains(text, "does not support dry run"):
		// k8s.io/apiserver v0.37.1 pkg/admission/plugin/webhook/errors/statuserror.go NewDryRunUnsupportedErr: a 400
		return false
	case isPermission(err):
		return false
	}
	switch code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError
}

// deniedByAdmission tells the refusals of webhooks and policies (k8s.io/apiserver v0.37.1 pkg/admission/plugin:
// webhook/errors/statuserror.go ToStatusErr, policy/validating/dispatcher.go Dispatch, policy/generic/policy_dispatcher.go).
func deniedByAdmission(text string) bool {
	return strings.Contains(text, "admission webhook ") && strings.Contains(text, " denied the request") ||
		strings.Contains(text, " denied request: ")
}

// isPermission tells a missing permission from what admission forbids: quota, pod security, a namespace that goes away. All
// are 403. The sentences are those of k8s.io/apiserver v0.37.1 pkg/endpoints/handlers/responsewriters/errors.go
// forbiddenMessage, and of kubernetes v1.36.3 pkg/registry/rbac/validation/rule.go ConfirmNoEscalation.
func isPermission(err error) bool {
	if !apierrors.IsForbidden(err) {
		return false
	}
	_, reason, _ := strings.Cut(err.Error(), "forbidden: ")
	return strings.HasPrefix(reason, `User "`) && strings.Contains(reason, " cannot ") ||
		strings.Contains(reason, "is attempting to grant RBAC permissions not currently held")
}

// refused says why the server could not be asked. fail leaves out what was said about a Secret; a webhook's name is safe.
func (t target) refused(verb string, err error) string {
	message := t.fail(verb, err).Message
	if _, after, found := strings.Cut(err.Error(), "failed calling webhook "); found && t.isSecret() {
		if name, quoted := strconv.QuotedPrefix(after); quoted == nil {
			message += ": failed calling webhook " + name
		}
	}
	return message
}

// awaits finds the object that the server misses, where it is one that the same upgrade creates: a namespace, the service
// account of a pod, a role of a binding.
func (t trial) awaits(asked object.Ref, err error) (object.Ref, bool) {
	text := err.Error()
	if !strings.Contains(text, "found") {
		return object.Ref{}, false
	}
	lower := strings.ToLower(text)
	for _, ref := range t.created {
		named := strings.Contains(text, strconv.Quote(ref.Name)) || strings.Contains(text, " "+ref.Name+" ")
		if ref != asked && named && strings.Contains(lower, strings.ToLower(ref.Kind)) {
			return ref, true
		}
	}
	return object.Ref{}, false
}

// said is what the server wrote, as one short line. Values are left out whole or kept whole: half a value is one that
// nobody recognises as a secret any more.
func (t target) said(err error) string {
	if text, ok := t.fieldErrors(err); ok {
		return text
	}
	text := err.Error()
	if len(text) > maxDetail && t.isSecret() {
		return fmt.Sprintf("the server refuses it (%d); its words are left out, since they may quote the Secret", statusCode(err))
	}
	short := oneLine(text)
	if i := strings.LastIndexByte(short, ' '); i > 0 && strings.HasSuffix(short, "…") {
		return short[:i] + " …"
	}
	return short
}

// fieldErrors puts an invalid object's errors together again from the server's list of them, false where there is none. The
// server's own sentence quotes values as large as a whole pod template and has the reason behind them. It has no name where
// the patched object could not be decoded.
func (t target) fieldErrors(err error) (string, bool) {
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

// maxQuoted is how long a value may be that a message of ours repeats.
const maxQuoted = 60

// wholePatch is the field that the API server names where the patched object could not be decoded; the value is then all of
// it (k8s.io/apiserver v0.37.2 pkg/endpoints/handlers/patch.go jsonPatcher.applyPatchToCurrentObject).
const wholePatch = "patch"

// withoutValue is the message of a field error with a long value left out, and every value of a Secret. The message is
// "TYPE: VALUE: DETAIL", without VALUE for some types (k8s.io/apimachinery v0.37.1 pkg/util/validation/field/errors.go
// ErrorBody). VALUE is JSON, a string in Go's quotes, or, from servers of the past, Go syntax, of which no end can be told but
// the detail's beginning.
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

// valueLength is the length of the value that a text begins with.
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

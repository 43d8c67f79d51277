package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/helmdrift/helmdrift/internal/retry"
)

// shownError returns the server's refusal with its reason and code, and a message that can be shown: without long
// values, and without any value of a Secret. A webhook chooses the code of its refusal; here it always gets the code
// for forbidden.
func (t target) shownError(err error) error {
	var refusal apierrors.APIStatus
	if !errors.As(err, &refusal) {
		if sent, ok := errors.AsType[*url.Error](err); ok {
			return sent.Err // without the URL: the message names the server already
		}
		return err
	}
	status := refusal.Status()
	status.Message = t.serverMessage(err)
	if isAdmissionDenial(err.Error()) {
		status.Code, status.Reason = http.StatusForbidden, metav1.StatusReasonForbidden
	}
	if status.Details != nil {
		status.Details = status.Details.DeepCopy()
		for i := range status.Details.Causes {
			status.Details.Causes[i].Message = ""
		}
	}
	return &apierrors.StatusError{ErrStatus: status}
}

// serverMessage returns the server's message as one short line. A value is kept whole or left out whole: nothing would
// recognise half of a secret as one.
func (t target) serverMessage(err error) string {
	if text, ok := t.fieldErrors(err); ok {
		return text
	}
	text := err.Error()
	if len(text) > maxDetail && t.isSecret() {
		return fmt.Sprintf("status %d; the message is left out, because it may quote the Secret", retry.Status(err))
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

// maxQuoted is the length of the longest value that our messages repeat.
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

// isAdmissionDenial reports whether a webhook or a policy denied the request (k8s.io/apiserver v0.37.1
// pkg/admission/plugin/webhook/errors/statuserror.go ToStatusErr, pkg/admission/plugin/policy/validating/dispatcher.go Dispatch,
// pkg/admission/plugin/policy/generic/policy_dispatcher.go).
func isAdmissionDenial(text string) bool {
	return strings.Contains(text, "admission webhook ") && strings.Contains(text, " denied the request") ||
		strings.Contains(text, " denied request: ")
}

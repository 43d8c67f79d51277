package repair

import (
	"context"
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What an error says of a write:
//
//	409, 422 without causes, 404 of the object     the ground has moved; nothing was written
//	429, a webhook that does not answer            not now; nothing was written
//	408, 5xx, no answer                            it is not known whether it was written
//	anything else                                  refused for good
//
// A JSON patch whose test does not hold is a 422 without causes (k8s.io/apiserver v0.37.2 pkg/endpoints/handlers/patch.go
// jsonPatcher.applyJSPatch); what fails validation has causes, one for each field (k8s.io/apimachinery v0.37.1
// pkg/api/errors/errors.go NewInvalid).

// The codes that matter, as HTTP has them.
const (
	codeNotFound  = 404
	codeTimeout   = 408
	codeConflict  = 409
	codeInvalid   = 422
	codeThrottled = 429
	codeFailed    = 500 // and above
)

// isFinal tells that another attempt has no sense.
func isFinal(err error) bool { return !isPassing(err) && !isStale(err) }

// isPassing tells a fault of the server, or of the way to it, from its judgement.
func isPassing(err error) bool {
	code := codeOf(err)
	return code == 0 || code == codeTimeout || code == codeThrottled || code >= codeFailed
}

// isUnanswered reports whether the write may have taken place.
func isUnanswered(err error) bool {
	return isPassing(err) && codeOf(err) != codeThrottled && !isWebhookDown(err)
}

// isWebhookDown reports whether the server refused a write because a webhook did not answer. It asks webhooks before it stores anything
// (k8s.io/apiserver v0.37.1 pkg/admission/plugin/webhook/mutating/dispatcher.go Dispatch, and that of validating).
func isWebhookDown(err error) bool {
	return codeOf(err) == codeFailed && strings.Contains(err.Error(), "failed calling webhook ")
}

// isStale tells that the object is not, or no longer, as the request had it.
func isStale(err error) bool {
	switch codeOf(err) {
	case codeConflict:
		return true
	case codeNotFound:
		return !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
	}
	return testFailed(err)
}

// testFailed tells that a JSON patch did not hold.
func testFailed(err error) bool {
	var status apierrors.APIStatus
	if codeOf(err) != codeInvalid || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details == nil || len(details.Causes) == 0
}

// codeOf is the code of an answer of the API server; 0 where there was none.
func codeOf(err error) int {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return int(status.Status().Code)
	}
	return 0
}

// reasonOf is the error in words.
func reasonOf(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	return err.Error()
}

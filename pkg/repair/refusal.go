package repair

import (
	"context"
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmdrift/helmdrift/internal/retry"
)

// An error says this about a write:
//
//	409, 422 without causes, 404 of the object     the object changed; nothing was written
//	429, a webhook that does not answer            try later; nothing was written
//	408, 5xx, no answer                            nobody knows whether it was written
//	anything else                                  refused for good
//
// A JSON patch with a failed test is a 422 without causes (k8s.io/apiserver v0.37.1 pkg/endpoints/handlers/patch.go
// jsonPatcher.applyJSPatch); an object that fails validation has causes, one for each field (k8s.io/apimachinery v0.37.1
// pkg/api/errors/errors.go NewInvalid).

// isTransient reports whether an error is a fault of the server or of the connection, and not a refusal of the request.
func isTransient(err error) bool {
	code := retry.Status(err)
	return code == 0 || code == http.StatusRequestTimeout || code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
}

// isUnanswered reports whether the write may have taken place.
func isUnanswered(err error) bool {
	return isTransient(err) && retry.Status(err) != http.StatusTooManyRequests && !isWebhookDown(err)
}

// isWebhookDown reports whether the server refused a write because a webhook did not answer. It asks webhooks before it stores anything
// (k8s.io/apiserver v0.37.1 pkg/admission/plugin/webhook/mutating/dispatcher.go Dispatch, and the same for validating).
func isWebhookDown(err error) bool {
	return retry.Status(err) == http.StatusInternalServerError && strings.Contains(err.Error(), "failed calling webhook ")
}

// isStale reports whether the object is not, or no longer, as the request assumed.
func isStale(err error) bool {
	switch retry.Status(err) {
	case http.StatusConflict:
		return true
	case http.StatusNotFound:
		return !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
	}
	return testFailed(err)
}

// testFailed reports whether a test of a JSON patch failed.
func testFailed(err error) bool {
	var status apierrors.APIStatus
	if retry.Status(err) != http.StatusUnprocessableEntity || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details == nil || len(details.Causes) == 0
}

// reasonOf returns the error as the reason of an outcome.
func reasonOf(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	return err.Error()
}

// Package retry has what a program asks before it repeats a request to the API server: pkg/live, which repeats reads and dry runs, and
// pkg/repair, which repeats the writes of a fix by rules of its own. The tests of both use it.
package retry

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Status returns the HTTP status of an answer of the API server, or 0 if the error is no such answer.
func Status(err error) int {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return int(status.Status().Code)
	}
	return 0
}

// EndsBefore reports whether the time of ctx ends before a wait does. Then the refusal at hand says more than the timeout that would end
// the wait.
func EndsBefore(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) <= wait
}

// Sleep waits, or returns the error of ctx if that ends first.
func Sleep(ctx context.Context, wait time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}

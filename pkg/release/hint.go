package release

import "fmt"

// hinted is an error with advice. Error returns only the cause, so that each can be shown in its own place.
type hinted struct {
	error
	hint string
}

// Hint returns what the user can try.
func (h hinted) Hint() string { return h.hint }

// Unwrap returns the cause.
func (h hinted) Unwrap() error { return h.error }

// withHint adds advice to err.
func withHint(err error, format string, args ...any) error {
	return hinted{error: err, hint: fmt.Sprintf(format, args...)}
}

package release

import "fmt"

// hinted is an error together with advice. Error gives the cause alone, so that each can be shown in its own place.
type hinted struct {
	error
	hint string
}

// Hint says what the reader can try.
func (h hinted) Hint() string { return h.hint }

// Unwrap gives the cause.
func (h hinted) Unwrap() error { return h.error }

// withHint puts advice beside err.
func withHint(err error, format string, args ...any) error {
	return hinted{error: err, hint: fmt.Sprintf(format, args...)}
}

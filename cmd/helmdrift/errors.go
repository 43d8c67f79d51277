package main

// hinted is an error together with advice. The error says what went wrong, the hint says what to try. streams.explain prints the hint on
// a line of its own, so neither of them repeats the other.
type hinted struct {
	error
	hint string
}

// Hint returns the advice; drift.Hint finds it.
func (h hinted) Hint() string { return h.hint }

// Unwrap returns the cause.
func (h hinted) Unwrap() error { return h.error }

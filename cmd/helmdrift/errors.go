package main

import "strings"

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

// shellWord quotes a word for a shell if it needs that, so that a command in a hint can be copied.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@,+=", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

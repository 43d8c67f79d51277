// Package hint adds advice to an error. The error says what went wrong, and the hint says what to try, so neither repeats the other.
// Package main prints the hint on a line of its own, and a report appends it to the message.
//
//	New(err, advice) ─► an error with a method Hint() string ─► wrapped on its way up ─► Of(err) ─► the advice
//
// Any error may have the method; pkg/render and pkg/fetch have error types of their own. A command in a hint is meant to be copied, and
// [ShellWord] quotes what it names. The scripts of cmd/helmdrift/testdata test what is printed.
package hint

import (
	"errors"
	"strings"
)

// advised is an error together with advice.
type advised struct {
	error
	hint string
}

// Hint returns the advice.
func (a advised) Hint() string { return a.hint }

// Unwrap returns the cause.
func (a advised) Unwrap() error { return a.error }

// New returns err with advice. The text of the error does not change.
func New(err error, advice string) error { return advised{err, advice} }

// Of returns the advice that comes with an error, or "" if there is none.
func Of(err error) string {
	var advice interface{ Hint() string }
	if errors.As(err, &advice) {
		return advice.Hint()
	}
	return ""
}

// Sentence returns the text of an error and its advice in one line.
func Sentence(err error) string {
	if advice := Of(err); advice != "" {
		return err.Error() + "; " + advice
	}
	return err.Error()
}

// ShellWord quotes a word for a shell if it needs that.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@,+=", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

package deployer

import (
	"context"
	"errors"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Source is where the releases of a deployer come from: the objects of a controller, or a file of a tool.
type Source struct {
	// One is what it calls one of them, such as HelmRelease.
	One string
	// IsFile is set for a file. That it has nothing in a namespace is no answer about the namespace.
	IsFile bool
	// Compare compares what the deployer does next with all of them. Its error is ErrNoObject, or NothingBut, if there is none.
	Compare func(ctx context.Context, on Scanned) ([]report.Release, error)
	// Alone returns an error if nothing else has something. It may be nil.
	Alone func() error
}

// NothingBut is ErrNoObject of a working tree, and why it has none: the controller leaves a part of it, or cannot build it and is not named
// in it. It counts only if no other source has anything either.
type NothingBut struct{ Cause error }

// Error implements error.
func (e NothingBut) Error() string { return e.Cause.Error() }

// Is reports whether an error is ErrNoObject.
func (NothingBut) Is(target error) bool { return target == ErrNoObject }

// CompareAll compares what the deployers of several sources do next. The others are compared if one fails: On.Fail
// gets its error. If no source has anything, the errors are returned, or nothing if there are none.
func CompareAll(ctx context.Context, on Scanned, sources []Source, nothing error) (out []report.Release, err error) {
	var having []Source
	var failed []error
	for _, s := range sources {
		found, err := s.Compare(ctx, on)
		out = append(out, found...)
		switch but, isNothing := errors.AsType[NothingBut](err); {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case isNothing:
			nothing = but.Cause
		case err != nil && !errors.Is(err, ErrNoObject):
			failed = append(failed, err)
		case err == nil && (!s.IsFile || len(found) > 0 || on.Namespace == ""):
			having = append(having, s)
		}
	}
	if len(having) == 0 {
		return nil, append(failed, nothing)[0]
	}
	for _, err := range failed {
		on.Fail(report.Message{Code: report.ErrorSource, Message: hint.Sentence(err)})
	}
	if len(having) == 1 && having[0].Alone != nil {
		if err := having[0].Alone(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

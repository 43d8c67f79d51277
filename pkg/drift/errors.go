package drift

import (
	"errors"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// These are the errors of options that do not fit the release's apply method, for errors.Is.
var (
	// ErrForceConflicts is the error of Options.ForceConflicts if Helm applies client-side, because nothing conflicts there.
	ErrForceConflicts = errors.New("forcing conflicts needs server-side apply, and this release is applied client-side")
	// ErrForceReplace is the error of Options.ForceReplace if Helm applies server-side. Helm 4 refuses that too.
	ErrForceReplace = errors.New("replacing objects needs client-side apply, and this release is applied server-side")
)

// FluxError is the error of Options.FromFlux if the rules could not be read, for errors.As with a *FluxError. Err is the cause.
type FluxError struct{ Err error }

// Error names Flux and the cause.
func (e *FluxError) Error() string { return "reading the rules of Flux: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FluxError) Unwrap() error { return e.Err }

// Hint returns the advice that comes with an error of any package of this module, or "" if there is none.
func Hint(err error) string { return hint.Of(err) }

// Package early puts off the first collection of garbage before most libraries are initialized. They leave enough garbage for two
// collections, which took a fifth of the processor time of a start. A program imports the package for that effect.
//
// Go initializes packages that do not depend on each other in the order of their import paths, and this one depends on no library. No other
// package of this module has an init function. The tests of internal/garbage check what it calls.
package early

import (
	"os"

	"github.com/helmdrift/helmdrift/internal/garbage"
)

func init() { garbage.Later(os.Getenv) }

package release

import (
	"fmt"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// withHint adds advice to err.
func withHint(err error, format string, args ...any) error {
	return hint.New(err, fmt.Sprintf(format, args...))
}

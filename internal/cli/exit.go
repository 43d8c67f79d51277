package cli

import "fmt"

// These are the exit codes of every command. They depend on what was found, never on the output format.
const (
	// ExitClean means that --fail-on selects nothing of what was found.
	ExitClean = 0
	// ExitFailure means a usage error, a failure, or an incomplete comparison. It takes precedence over ExitSelected, so that 2 means
	// that the report is complete.
	ExitFailure = 1
	// ExitSelected means that --fail-on selects something that was found.
	ExitSelected = 2
)

// ExitStatus is an error that only carries an exit code. A report has already said why.
type ExitStatus int

// Error makes ExitStatus an error. It is never printed.
func (s ExitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

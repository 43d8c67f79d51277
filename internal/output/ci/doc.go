// Package ci writes reports for the tools that show the results of a pipeline: comments on pull requests (Markdown), pages of tests
// (JUnit), of code scanning (SARIF) and of code quality (GitLab), and the annotations of a run (GitHub).
//
//	                        ┌─► Markdown
//	                        ├─► JUnit
//	Report ─► entriesOf ────┼─► SARIF
//	  one for each error,   ├─► GitLab
//	  object and finding    └─► GitHub
//
// Each format is a file. What is said of a finding is the same in all of them, and comes from entries.go; a format chooses what to show
// within the limits of its consumer, and says how much it left out. Each has its own escaping on top of package escape: a value is text
// in every format, and makes no element, link, mention or command.
//
// # Levels
//
// An error is what could not be compared and what the operation fails on; a warning is drift; everything else that is not silenced is a
// note. A format that knows only success and failure takes the choice of the caller ([Options.Fails]), so that it agrees with the exit code.
package ci

// Package ci writes reports for the tools that show the results of a pipeline: comments on pull requests (Markdown), pages of tests
// (JUnit), of code scanning (SARIF) and of code quality (GitLab), and the annotations of a run (GitHub).
//
//	                        ┌─► Markdown
//	                        ├─► JUnit
//	Report ─► entriesOf ────┼─► SARIF
//	  one for each error,   ├─► GitLab
//	  object and finding    └─► GitHub
//
// Each format is a file; findings.go has the tables and diffs of Markdown. All formats say the same of a finding, and take it from
// entries.go. A format chooses what to show within the limits of its consumer, and says how much it left out. Each format has its own
// escaping on top of package escape: a value is text in every format, and makes no element, link, mention or command.
//
// # Levels
//
// An object that could not be compared, or that the operation fails on, is an error. Drift is a warning. Everything else that is not
// silenced is a note. A format that knows only success and failure asks the caller ([Options.Fails]), so that it agrees with the exit
// code.
//
// # Tests
//
// The test beside this file has what a consumer reads of each level; internal/output compares whole files (TestGolden) and tries hostile
// texts, and test/formats and test/ci let readers of others read them.
package ci

// Command helmdrift shows what drifted in a Helm release, who changed it, and what the next helm upgrade will do about it. helmdrift fix
// puts back what drifted.
//
// This package holds the flags, the prompts and the exit codes. pkg/drift makes the comparison, internal/output prints it, and pkg/repair
// plans and writes a fix.
//
// # What a command does
//
// Every command goes straight down. Nothing below calls back up, except for the questions of a child process (see below):
//
//	main ─► run ─► newRoot ─┬─► runDiff ─► begin ─► session.compare ─► output.Write ─► failOn.status ─► exit code
//	                        │                              │
//	                        │                              └─ with --fix ─┐
//	                        │                                             ▼
//	                        ├─► runFix ──► begin ─► session.compare ─► fixRun.run ─► fixStatus ─► exit code
//	                        │
//	                        ├─► runScan ─► inClusters ─► fleet.Source.Compare ─► output.Write ─► failOn.status ─► exit code
//	                        ├─► runList ─► inClusters ─► fleet.Source.List ─► output.WriteList ─► exit code
//	                        └─► report, version, completion, help
//
// In detail, diff and fix take these steps:
//
//   - cobra parses the flags. Flag values refuse wrong words while they are parsed, and the check methods refuse flags that contradict each
//     other. No cluster has been asked until then, so a usage error is reported at once.
//   - begin reads the configuration, resolves the kubeconfig, connects, and finds the release if none is named.
//   - session.compare makes the comparison and adds to its errors which flag helps.
//   - diff prints the report. fix shows its plan, asks, saves a backup, writes, compares again, waits with --wait, and prints the result.
//
// # Exit codes
//
//	0  nothing that --fail-on selects; for fix: everything that fix can put back is as Helm deployed it; for list: everything was read
//	1  a usage error, a failure, or something that could not be read or compared, or that does not come up with --wait; precedes 2
//	2  something that --fail-on selects; for fix: drift remains
//
// A script must be able to rely on them, so a crash must not look like drift: the Go runtime ends a process that panics with 2. run
// recovers panics and returns 1, and SetTraceback makes fatal errors of the runtime end the process with a signal.
//
// # Files
//
// The files depend on each other in one direction, from the top of this list to the bottom:
//
//	main.go                                            the process: signals, panics, the exit code
//	root.go, help.go                                   the command tree and the layout of its help
//	diff.go, fix.go, list.go, report.go, completion.go one command each, and the completion of their arguments
//	scan.go, search.go                                 diff of several releases, and how they are found in one or several clusters
//	fix_run.go, fix_backup.go, fix_wait.go             the steps of a fix after its comparison
//	session.go                                         from the flags to a comparison of one release
//	compare_flags.go, desired_flags.go, fix_flags.go,
//	selection_flags.go                                 the flags, by topic: what they are called, how they are checked, what they set
//	ignore.go                                          what the user has decided to ignore
//	connection.go, version.go                          which cluster, as whom, and the version that the API server is told
//	limits.go, plugins.go                              the limits of work on text that others wrote, and the child process
//	aliases.go                                         flags of helm-diff and helm-drift
//	exit.go                                            from a report to an exit code
//	display.go, streams.go, log.go                     stdin, stdout, stderr, and what may be printed there
//	flags.go, errors.go, coredump_*.go                 flag values, errors with hints, the core file
//
// # Child processes
//
// Charts, long manifests and indexes of repositories are read and rendered in a child process, which is this program again under another
// name (limits.go, internal/jobs). It holds no credentials of the cluster. When a template reads a file or looks up an object, the child asks
// its parent.
//
// # Adding a flag
//
// A flag is a field of an options struct, a line in its addFlags, and a name below a heading in help.go; TestHelpGroups fails without the
// heading. A flag with a fixed set of words is a oneOf. If the flag contradicts another one or needs a chart, check refuses it, and
// testdata/script/usage.txtar shows the message. A flag that decides what the comparison is made with must not be allowed together with
// --fix (checkFix), and one that fix needs to reach the same result belongs in fixCommand, which the last line of a report quotes.
//
// # Messages
//
// An error says what is wrong and quotes the flag, file or object. A hint says what to type or to change. Two flags that do not go together
// "exclude each other"; a value "must be" something; a flag that lacks a condition "needs" it. Values of --set and tokens are never quoted.
//
// # What goes where
//
// Reports go to stdout; errors, hints, notes and questions go to stderr. Everything that was written by others is escaped on both, and
// secrets that this run knows are removed from errors and logs (streams.go). Only this package reads the environment, and only main ends
// the process; TestHouseRules checks both.
package main

// Command helmdrift shows what drifted in a Helm release, who changed it, and what the next helm upgrade will do about it. helmdrift fix
// puts back what drifted.
//
// This package has the commands and the guests. internal/cli has what the commands share: flags, and the way to a comparison.
// internal/reporting has the way from there to a printed report and an exit code. pkg/drift makes the comparison, internal/output writes
// the report, and pkg/repair plans and writes a fix.
//
// # What a command does
//
// Every command calls straight down. Nothing below calls back up, except for the questions of a child process (see below):
//
//	main ─► run ─► newRoot ─┬─► runDiff ─► Begin ─► reporting.Run.Do ─► Comparer.Compare ─► PrintOptions.Print ─► FailOn.Status ─► exit code
//	                        │                              │
//	                        │                              └─ with --fix ─┐
//	                        │                                             ▼
//	                        ├─► runFix ──► Begin ─► Comparer.Compare ─► fixing.Run.Do ─► exit code
//	                        │
//	                        ├─► fleetScan.run ─► search.InClusters ─► fleet.Source.Compare ─► PrintOptions.Print ─► FailOn.Status ─┐
//	                        │                                                                                         exit code ◄─┘
//	                        ├─► runList ─► search.InClusters ─► fleet.Source.List ─► output.WriteList ─► exit code
//	                        └─► report, version, completion, help
//
// In detail, diff and fix take these steps:
//
//   - cobra parses the flags. Flag values refuse wrong words while they are parsed, and the check methods refuse flags that contradict each
//     other. No cluster has been asked until then, so a usage error is reported at once.
//   - Begin reads the configuration, resolves the kubeconfig, connects, and finds the release if none is named.
//   - The comparer of the session makes the comparison, and WithAdvice adds to its errors which flag helps.
//   - diff prints the report. fix shows its plan, asks, saves a backup, writes, compares again, waits with --wait, and prints the result.
//
// # Exit codes
//
//	0  nothing that --fail-on selects; for fix: everything that fix can put back is as Helm deployed it; for list: everything was read
//	1  a usage error, a failure, or something that could not be read or compared, or that does not come up with --wait; precedes 2
//	2  something that --fail-on selects; for fix: drift remains
//
// Scripts rely on them, so a crash must not look like drift: the Go runtime ends a process that panics with 2. run recovers panics
// and returns 1, and SetTraceback makes fatal errors of the runtime end the process with a signal.
//
// # Files
//
// The files depend on each other from the top of this list to the bottom. Only guest.go looks up: what a guest adds to diff and fix gets
// their options.
//
//	main.go, child.go                 the process: signals, panics, the exit code; and the main function of a child process
//	root.go                           the command tree
//	guests.go                         the list of the guests; the files of each are below
//	diff.go, diff_snapshot.go         the command diff, with a cluster and with a snapshot
//	fix.go, report.go                 one command each; internal/fixing has the flags that fix and diff --fix share
//	guest.go                          what a guest may add; controllers.go and files.go are what several guests share: diff of the objects of
//	                                  a controller, and of the file of a tool
//	version.go                        the version, which the API server is told too
//	coredump_*.go                     a setting of the process: no core file
//
// # Guests
//
// A guest is a feature beside diff and fix of one release (docs/dev/architecture.md). Only guests.go and the guest's own files know it. The
// commands are given what all guests add, and do not ask who adds it:
//
//	absorb.go                                          absorb
//	forecast.go                                        what writes mean for pods and data
//	scan.go, list.go                                   diff of several releases, and list; internal/search finds the releases
//	flux.go, flux_all.go, flux_*.go                    diff and fix of a HelmRelease, diff --next and diff --from
//	argo.go                                            the same of an Application
//	terraform.go, helmfile.go                          diff --plan, diff --helmfile
//	snapshot.go                                        snapshot, and the file of --snapshot
//	history.go                                         history
//	fix_wait.go                                        --wait of fix, which is in internal/waiting
//
// # Child processes
//
// A child process reads and renders charts, long manifests and indexes of repositories. It is this program again under another name
// (child.go, internal/jobs), and has no credentials of the cluster. When a template reads a file or looks up an object, the child asks
// its parent.
//
// # Messages
//
// An error says what is wrong and quotes the flag, file or object. A hint says what to type or to change. Two flags that cannot be
// combined "exclude each other"; a value "must be" something; a flag that lacks a condition "needs" it. Messages never quote values of
// --set or tokens.
//
// # What goes where
//
// Reports go to stdout; errors, hints, notes and questions go to stderr. Foreign text is escaped on both, and known secrets are removed
// from errors and logs (internal/cli). Only main reads the environment and ends the process; TestHouseRules checks both.
package main

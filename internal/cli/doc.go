// Package cli is what the commands of helmdrift share: the way from flags to a comparison, and what may be printed where. It knows neither
// a command nor a guest; cmd/helmdrift has these. internal/reporting and internal/fixing say what becomes of the comparison.
//
//	flags ─► Connection ─────┐
//	         DesiredOptions ─┼─► CompareOptions.Begin ─► Session, with its drift.Comparer
//	         IgnoreOptions ──┘
//
// # Files
//
// The files depend on each other in one direction, from the top of this list to the bottom:
//
//	session.go, chart.go, saved.go       from the flags to a comparison: with a cluster, or with one that somebody saved
//	choice.go, pick.go                   which fields and objects a command takes: --only, --skip and --patch
//	suggest.go                           what the user may have meant by a release or a namespace that is not there
//	offline.go                           commands that ask no cluster, and their filter of releases
//	completion.go                        what the shell completes from a cluster
//	help.go                              the headings of flags in the help, and its layout
//	desired.go, ignore.go                what to compare with, and what to ignore
//	aliases.go                           the flags of other tools that diff accepts or refuses
//	connection.go, context_flag.go       which cluster, and as whom
//	limits.go                            the limits of work on text that others wrote
//	streams.go, invocation.go            stdin, stdout, stderr, what may be printed there, and how the user started the program
//	exit.go                              exit codes
//	flags.go                             values of flags, and the messages for wrong ones
//
// # Flags
//
// A group of flags is a struct: AddFlags adds them, and Check refuses those that contradict each other. A flag with a fixed set of words is
// a OneOf. Its value refuses wrong words while the command line is parsed, so a usage error is reported before any cluster is asked.
// NamesOf lists the flags of a struct, so that help and checks have every flag of it.
//
// # Messages
//
// Reports go to stdout; errors, hints, notes and questions go to stderr. Streams.Print escapes foreign text, and Streams.Explain removes
// known secrets from errors. The environment is the function Streams.Env, and the exit code an error of the type ExitStatus: only main
// reads the environment and ends the process. A test can therefore run the whole program in its own process.
//
// The tests here are those of single functions. The flags, messages and exit codes are tested with the commands in cmd/helmdrift.
package cli

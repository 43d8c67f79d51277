// Package reporting leads from a comparison to what diff prints, and to its exit code. pkg/threeway makes the report of one comparison;
// this package does to it what the flags ask for:
//
//	a comparison ─► Flags.Release: what the baseline has is known, --only and --skip choose, -o diff has the patch ─► report.Release
//	a report ─────► Flags.Look: --since chooses; what --only and --skip do not find is an error or a warning ────────► how it looks
//	both ─────────► PrintOptions.Print: stdout, a pager, and the files of --report ──────────────────────────────────► bytes
//	a report ─────► FailOn.Status ───────────────────────────────────────────────────────────────────────────────────► an exit code
//
// [Run] takes these steps for one release, and ends in a fix with --fix. The command report and diff of several releases take those that
// they need.
//
// The tests beside this file are those of single functions; the cases run the command: testdata/script of cmd/helmdrift.
package reporting

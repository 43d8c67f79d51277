// Package reporting makes the report of diff from comparisons. pkg/threeway makes the report of one comparison; this package does to it what
// the flags ask for:
//
//	a comparison ─► Flags.Release: what the baseline has is known, --only and --skip choose, -o diff has the patch ─► report.Release
//	a report ─────► Flags.Look: --since chooses; what --only and --skip do not find is an error or a warning ────────► how it looks
//
// The cases of its tests run the command: testdata/script of cmd/helmdrift.
package reporting

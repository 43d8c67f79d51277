// Package project has the tests of the files that a contributor or a distributor reads: NOTICE, CHANGELOG.md, the forms for issues, and the
// hooks that run before a commit.
//
//	go list -deps ─► linked modules ─► licence files ─► classify ─► NOTICE
//
// "go test ./test/project -args -update" writes NOTICE again.
package project

//go:build unix

package main

import "syscall"

// forbidCoreDumps keeps a crash from writing the memory, and the secrets in it, to a file. Where the system refuses, a crash
// is no worse than any other program's.
func forbidCoreDumps() {
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}

//go:build unix

package main

import "syscall"

// forbidCoreDumps keeps a crash from writing the memory, and the secrets in it, to a file. It ignores an error: if the system refuses, a
// crash is no worse than in any other program.
func forbidCoreDumps() {
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}

//go:build !unix

package main

// forbidCoreDumps has nothing to forbid where a crash writes no core file by itself.
func forbidCoreDumps() {}

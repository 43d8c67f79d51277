//go:build !unix

package main

// forbidCoreDumps does nothing on systems where a crash writes no core file by itself.
func forbidCoreDumps() {}

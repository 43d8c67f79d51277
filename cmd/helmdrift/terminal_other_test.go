//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

// onTerminal works only on Linux, since each system has its own way to open a pseudo-terminal.
func onTerminal(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("no terminal on this system")
}

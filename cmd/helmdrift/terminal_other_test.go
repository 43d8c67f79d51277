//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

// onTerminal is for Linux only: each system makes its terminals in a way of its own.
func onTerminal(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("no terminal on this system")
}

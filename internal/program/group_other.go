//go:build !unix

package program

import "os/exec"

// ownGroup does nothing on systems without process groups: only the program itself is killed.
func ownGroup(*exec.Cmd) {}

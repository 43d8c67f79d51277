//go:build unix && !linux

package program

import "syscall"

// endsWithParent does nothing on systems whose kernel does not tell a child of the end of its parent.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

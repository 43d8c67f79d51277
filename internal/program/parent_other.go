//go:build unix && !linux

package program

import "syscall"

// endsWithParent does nothing on systems that do not signal the end of a parent to its children.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

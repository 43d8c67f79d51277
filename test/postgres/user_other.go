//go:build !linux

package postgres

import "syscall"

// childAttributes returns no attributes: Debian's packages are for Linux.
func childAttributes() *syscall.SysProcAttr { return nil }

// giveAway does nothing, because the server runs as the user of the test.
func giveAway(...string) error { return nil }

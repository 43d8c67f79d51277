package postgres

import (
	"os"
	"syscall"
)

// nobody is the user without rights, as whom the server runs if the test is root.
const nobody = 65534

// childAttributes makes a process end with the test, even if the test is killed, and run without the rights of root.
func childAttributes() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGQUIT}
	if os.Geteuid() == 0 {
		attributes.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return attributes
}

// giveAway makes files belong to the user as whom the server runs.
func giveAway(paths ...string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, path := range paths {
		if err := os.Chown(path, nobody, nobody); err != nil {
			return err
		}
	}
	return nil
}

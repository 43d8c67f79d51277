package e2e

import (
	"context"
	"os"
	"os/exec"
	"syscall"
)

// inAccount gives the rest of its arguments, a command, the files of the folder $0 in the place where a container has its account. Nobody
// else sees that, because the process has a mount namespace of its own.
const inAccount = `at=/var/run/secrets/kubernetes.io/serviceaccount
mount --make-rprivate / && mount -t tmpfs tmpfs /var/run && mkdir -p $at && cp "$0"/* $at && exec env "$@"`

// inPod returns a process that finds the files of a folder as the account of its pod.
func inPod(ctx context.Context, account string, command []string) *exec.Cmd {
	process := exec.CommandContext(ctx, "sh", append([]string{"-c", inAccount, account}, command...)...)
	process.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if id := os.Geteuid(); id != 0 { // without the right to mount, the process needs a user namespace that gives it this right
		process.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		process.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
		process.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return process
}

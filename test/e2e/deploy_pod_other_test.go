//go:build !linux

package e2e

import (
	"context"
	"os/exec"
)

// inPod returns a process that fails, because only Linux has mount namespaces.
func inPod(ctx context.Context, _ string, _ []string) *exec.Cmd {
	return exec.CommandContext(ctx, "sh", "-c", "echo only Linux has mount namespaces; exit 1")
}

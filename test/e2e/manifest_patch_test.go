package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"helm.sh/helm/v3/pkg/storage/driver"
)

// scriptPatch runs diff with -o diff, applies what it prints to the manifest of the release with patch(1), and writes the result to
// patched.yaml. A snapshot must lead to the same diff. It returns the diff and the exit code.
func scriptPatch(c *Case, args []string) (string, error) {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		chart, err := c.chart(args[0])
		if err != nil {
			return "", err
		}
		args = append([]string{c.release, chart}, args[1:]...)
	}
	args = c.named(args)
	out, err := c.binary(append([]string{"diff", "-o", "diff"}, args...)...)
	if err != nil {
		return out.stderr, err
	}
	manifest, err := c.manifest()
	installs := errors.Is(err, driver.ErrReleaseNotFound)
	if err != nil && !installs {
		return "", err
	}
	if err := c.applyPatch(manifest, installs, out.stdout); err != nil {
		return "", err
	}
	if !installs {
		if err := c.checkSnapshotPatch(args, out); err != nil {
			return "", err
		}
	}
	return out.stdout + out.stderr + fmt.Sprintf("exit %d\n", out.exit), nil
}

// applyPatch writes the manifest as helm get manifest prints it, unless there is none, and applies a patch to it.
func (c *Case) applyPatch(manifest string, installs bool, patch string) error {
	dir := filepath.Join(c.dir, ".patch")
	file := filepath.Join(dir, c.release+".yaml")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return err
	}
	if !installs {
		if err := os.WriteFile(file, []byte(manifest+"\n"), 0o600); err != nil {
			return err
		}
	}
	cmd := exec.Command("patch", "--binary", "-F0", "-p0", "-d", dir)
	cmd.Stdin = strings.NewReader(patch)
	if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte("offset")) {
		return fmt.Errorf("patch: %w: %s\n%s", err, out, patch)
	}
	patched, err := os.ReadFile(file)
	patched = bytes.ReplaceAll(patched, []byte(c.ns), []byte("NS"))
	return errors.Join(err, os.WriteFile(filepath.Join(c.dir, "patched.yaml"), patched, 0o600))
}

// checkSnapshotPatch makes the diff of the arguments from a masked snapshot, and returns an error if it differs.
func (c *Case) checkSnapshotPatch(args []string, fromCluster binaryRun) error {
	file := filepath.Join(c.dir, "snapshot.json.gz")
	saved, err := c.binary(append([]string{"snapshot", "-o", file, "--overwrite"}, snapshotArgs(args)...)...)
	if err != nil || saved.exit != 0 {
		return fmt.Errorf("helmdrift snapshot: exit %d, %w\n%s", saved.exit, err, saved.stderr)
	}
	out, err := c.withoutCluster(append([]string{"diff", "-o", "diff", "--snapshot", file}, args...)...)
	if err == nil && (out.stdout != fromCluster.stdout || out.exit != fromCluster.exit) {
		err = fmt.Errorf("the snapshot has another diff, exit %d:\n%s%s", out.exit, out.stdout, out.stderr)
	}
	return err
}

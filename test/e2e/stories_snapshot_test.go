package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// Each diff of a story is made again from a snapshot, and must have the same report. If the diff renders a chart, its snapshot either masks
// the secrets or keeps them, in turn; make stories makes the diff from both.

var snapshotKinds = flag.String("snapshots", "one", "make each diff of a story from a snapshot, too: one, both (masked and with secrets), or none")

// snapshotTries is how often a snapshot is compared with the cluster: controllers may change something between the two.
const snapshotTries = 3

// checkSnapshot makes the comparison of the arguments from snapshots, and returns an error if a report differs from the cluster's.
func (c *Case) checkSnapshot(args []string, fromCluster binaryRun) error {
	if *snapshotKinds == "none" || !isForSnapshot(args, fromCluster) {
		return nil
	}
	c.fromSnapshots++
	masked, kept := true, len(args) > 1 && !strings.HasPrefix(args[1], "-")
	switch {
	case slices.Contains(args, "--show-secrets"): // a masked snapshot has none to show
		masked, kept = false, true
	case kept && *snapshotKinds == "one": // stories of Helm 3 and of Helm 4 need not begin with the same kind
		masked = (c.fromSnapshots+int(crc32.ChecksumIEEE([]byte(filepath.Base(c.dir)))))%2 == 0
		kept = !masked
	}
	var problem string
	for try := range snapshotTries {
		if try > 0 {
			var err error
			if fromCluster, err = c.binary(append([]string{"diff", "-o", "json"}, args...)...); err != nil {
				return err
			}
		}
		var err error
		problem = ""
		if masked {
			problem, err = c.differenceOfSnapshot(args, fromCluster, false)
		}
		if kept && problem == "" && err == nil {
			problem, err = c.differenceOfSnapshot(args, fromCluster, true)
		}
		if err != nil {
			return err
		}
		if problem == "" {
			return nil
		}
	}
	return fmt.Errorf("the report from a snapshot differs (-cluster +snapshot):\n%s", problem)
}

// isForSnapshot reports whether a comparison can be made from a snapshot: it has a report on an installed release, its chart can be
// rendered, and it needs no server otherwise.
func isForSnapshot(args []string, out binaryRun) bool {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") || out.report == nil || len(out.report.Releases) != 1 {
		return false
	}
	// A chart that cannot be rendered cannot be captured either.
	if slices.ContainsFunc(out.report.Releases[0].Errors, func(m message) bool { return m.Code == "render" }) {
		return false
	}
	return !slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains([]string{"--dry-run", "--install", "-o", "--output", "--from-flux", "--fix", "-A", "-l", "--kube-as-user"}, name)
	})
}

// differenceOfSnapshot saves a snapshot, compares it, and returns how the report differs. With includeSecrets it must not differ at all.
// Otherwise values of a chart may be masked; then there only has to be a report.
func (c *Case) differenceOfSnapshot(args []string, fromCluster binaryRun, includeSecrets bool) (problem string, err error) {
	file := filepath.Join(c.dir, "snapshot.json.gz")
	save := append([]string{"snapshot", "-o", file, "--overwrite"}, snapshotArgs(args)...)
	if includeSecrets {
		save = append(save, "--include-secrets")
	}
	saved, err := c.binary(save...)
	if err != nil {
		return "", err
	}
	if saved.exit != 0 {
		return "", fmt.Errorf("helmdrift %s: exit %d\n%s", strings.Join(save, " "), saved.exit, saved.stderr)
	}
	defer os.Remove(file) //nolint:errcheck // the folder is removed, too
	play := append([]string{"diff", "-o", "json", "--snapshot", file}, args...)
	out, err := c.withoutCluster(play...)
	if err != nil {
		return "", err
	}
	want, err := comparableReport(fromCluster.stdout)
	if err != nil {
		return "", err
	}
	got, err := comparableReport(out.stdout)
	if err != nil {
		return fmt.Sprintf("exit %d: %s", out.exit, out.stderr), nil
	}
	if !includeSecrets && strings.Contains(out.stdout, `"reason": "masked"`) {
		return "", nil
	}
	if out.exit != fromCluster.exit {
		problem = fmt.Sprintf("exit %d, want %d\n", out.exit, fromCluster.exit)
	}
	return problem + cmp.Diff(want, got), nil
}

// withoutCluster runs the binary without a way to the cluster.
func (c *Case) withoutCluster(args ...string) (binaryRun, error) {
	closed := *c
	closed.proxy = &proxy{server: c.proxy.server}
	return closed.binary(args...)
}

// snapshotArgs returns the arguments of a diff that snapshot has too: not those that say what is ignored, what counts and how it is shown.
func snapshotArgs(args []string) []string {
	valued := []string{"--fail-on", "--ignore", "--ignore-manager", "--config", "--baseline", "--color"}
	plain := []string{"--no-default-ignores", "--show-ignored", "--show-controllers", "--show-secrets", "--verbose", "-v"}
	var out []string
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(args[i], "=")
		switch {
		case slices.Contains(valued, name) && !joined:
			i++
		case !slices.Contains(valued, name) && !slices.Contains(plain, name):
			out = append(out, args[i])
		}
	}
	return out
}

// comparableReport returns the release of a report without what another run would have otherwise: volatile values.
func comparableReport(text string) (map[string]any, error) {
	var r struct {
		Releases []map[string]any `json:"releases"`
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	if err := decoder.Decode(&r); err != nil || len(r.Releases) != 1 {
		return nil, fmt.Errorf("no report of one release: %w", err)
	}
	objects, _ := r.Releases[0]["objects"].([]any)
	for _, o := range objects {
		fields, _ := o.(map[string]any)["fields"].([]any)
		for _, f := range fields {
			field, _ := f.(map[string]any)
			if field["class"] == "volatile" {
				for _, side := range []string{"desired", "after", "id"} {
					delete(field, side)
				}
			}
		}
	}
	return r.Releases[0], nil
}

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/output"
)

// TestEveryFormat checks that the exit code does not depend on the format, and that a report that cannot be written is a failure that
// leaves no half-written file.
func TestEveryFormat(t *testing.T) {
	chart, disk := writeChart(t), fullDisk(t)
	for _, format := range output.Formats() {
		t.Run(format, func(t *testing.T) {
			diff := func(out io.Writer, args ...string) (code int, stderr string) {
				var errs bytes.Buffer
				args = append([]string{"diff", "--snapshot", "../../testdata/snapshots/web.json.gz"}, args...)
				code = run(t.Context(), args, cli.Streams{Out: out, Err: &errs, Env: func(string) string { return "" }})
				return code, errs.String()
			}
			for _, test := range []struct {
				args string
				want int
			}{
				{"", cli.ExitSelected}, {"--fail-on none", cli.ExitClean}, {"--fail-on conflict", cli.ExitClean}, {"--fail-on unmanaged", cli.ExitSelected},
				{"--baseline none.json", cli.ExitFailure}, {chart, cli.ExitFailure}, {"--ignore /spec/replicas --show-ignored", cli.ExitSelected},
			} {
				args := append(strings.Fields(test.args), "-o", format)
				if code, stderr := diff(io.Discard, args...); code != test.want {
					t.Errorf("%s: exit %d, want %d: %s", args, code, test.want, stderr)
				}
			}

			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Skip(err)
			}
			defer full.Close() //nolint:errcheck // nothing fits into it
			if code, stderr := diff(full, "-o", format); code != cli.ExitFailure || !strings.Contains(stderr, "no space left") {
				t.Errorf("a full disk: exit %d: %s", code, stderr)
			}
			kept := filepath.Join(disk, "kept")
			for _, path := range []string{"/dev/full", filepath.Join(t.TempDir(), "none", "x"), kept} {
				if path == kept && disk == "" {
					continue
				}
				if code, stderr := diff(io.Discard, "-o", "json", "--report", format+"="+path); code != cli.ExitFailure || !strings.Contains(stderr, path) {
					t.Errorf("--report %s: exit %d: %s", path, code, stderr)
				}
			}
			if files, err := filepath.Glob(disk + "/*"); disk != "" && (err != nil || len(files) != 2) {
				t.Errorf("the full disk has %s beside kept and filler, %v", files, err)
			}
			if text, err := os.ReadFile(kept); disk != "" && (err != nil || string(text) != "earlier") {
				t.Errorf("the earlier report is %q, %v", text, err)
			}
		})
	}
}

// TestClosedPipe checks that the real process fails without a message, in every format, if the reader of its output is gone, as head is.
func TestClosedPipe(t *testing.T) {
	for _, format := range output.Formats() {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		var stderr bytes.Buffer
		cmd := exec.Command("helmdrift", "diff", "--snapshot", "../../testdata/snapshots/web.json.gz", "-o", format)
		cmd.Stdout, cmd.Stderr = w, &stderr
		err = cmd.Run()
		_ = w.Close()
		if code := cmd.ProcessState.ExitCode(); code != cli.ExitFailure || strings.Contains(stderr.String(), "Error") {
			t.Errorf("-o %s: exit %d, %v: %s", format, code, err, &stderr)
		}
	}
}

// writeChart writes a chart with an object that the snapshot does not have.
func writeChart(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Chart.yaml":       "{apiVersion: v2, name: shop, version: 1.3.0}",
		"templates/a.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: not-in-the-snapshot}}",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fullDisk returns a folder on a full disk, with a file that contains "earlier", or "" if this process may not mount one.
func fullDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("helmdrift", dir, "tmpfs", 0, "size=8k"); err != nil {
		t.Logf("NOT TESTED: a full disk under --report: %v", err)
		return ""
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	if err := os.WriteFile(filepath.Join(dir, "kept"), []byte("earlier"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

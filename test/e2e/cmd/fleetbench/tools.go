package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/test/e2e/fleet"
)

// tools are the binaries that are measured. HelmDiff is empty if it is not measured.
type tools struct {
	helmdrift, helm, kubectl, helmDiff string
}

// runner runs binaries against a cluster.
type runner struct {
	tools
	kubeconfig string
	// dir is a folder for caches and charts.
	dir string
}

// result is what a process left behind.
type result struct {
	stdout []byte
	// peak is the largest resident memory in bytes, or 0 if the system does not tell.
	peak int
	// processor is the time on processors, of the system too.
	processor time.Duration
}

// command prepares a binary. Its caches are in the runner's folder, where they stay warm.
func (r runner) command(ctx context.Context, binary string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+r.kubeconfig, "HELM_BIN="+r.helm, "KUBECACHEDIR="+filepath.Join(r.dir, "cache"),
		"HELM_CACHE_HOME="+filepath.Join(r.dir, "helm"), "HELM_DIFF_COLOR=false")
	return cmd
}

// wait runs a command. The given exit codes are not errors.
func wait(cmd *exec.Cmd, accepted ...int) (result, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		return result{}, err
	}
	stop := watchMemory(cmd.Process.Pid)
	err := cmd.Wait()
	peak := stop()
	var exit *exec.ExitError
	if errors.As(err, &exit) && slices.Contains(accepted, exit.ExitCode()) {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.String())
	}
	processor := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return result{stdout: stdout.Bytes(), peak: peak, processor: processor}, err
}

// These exit codes of helmdrift and kubectl say that something differs.
const (
	driftedExit = 2
	differsExit = 1
)

// wholeFleet are the arguments of helmdrift that compare the whole fleet.
const wholeFleet = "diff -A -o json"

// scan compares the whole fleet.
func (r runner) scan(ctx context.Context, args string) (result, error) {
	return wait(r.command(ctx, r.helmdrift, strings.Fields(args)...), driftedExit)
}

// target names a release.
type target struct{ name, namespace string }

// diffOne compares one release with helmdrift.
func (r runner) diffOne(ctx context.Context, release target) error {
	_, err := wait(r.command(ctx, r.helmdrift, "diff", release.name, "-n", release.namespace, "-o", "json"), driftedExit)
	return err
}

// manifest returns what helm get manifest prints.
func (r runner) manifest(ctx context.Context, release target) (string, error) {
	out, err := wait(r.command(ctx, r.helm, "get", "manifest", release.name, "-n", release.namespace))
	return string(out.stdout), err
}

// kubectlDiff does what helm get manifest NAME | kubectl diff -f - does.
func (r runner) kubectlDiff(ctx context.Context, release target) error {
	text, err := r.manifest(ctx, release)
	if err != nil {
		return err
	}
	diff := r.command(ctx, r.kubectl, "diff", "-n", release.namespace, "-f", "-")
	diff.Stdin = strings.NewReader(text)
	_, err = wait(diff, differsExit)
	return err
}

// upgradeDiff runs helm diff upgrade with a chart.
func (r runner) upgradeDiff(ctx context.Context, release target, chart string, args ...string) error {
	diff := r.command(ctx, r.helmDiff, append([]string{"upgrade", release.name, chart, "--three-way-merge", "--reset-values"}, args...)...)
	diff.Env = append(diff.Env, "HELM_NAMESPACE="+release.namespace) // Helm takes --namespace from the arguments of a plugin
	_, err := wait(diff)
	return err
}

// savedDiff runs helm diff upgrade with the chart and the values that saveChart has saved.
func (r runner) savedDiff(ctx context.Context, release fleet.Release) error {
	dir := filepath.Join(r.dir, "charts", release.Name)
	return r.upgradeDiff(ctx, targetOf(release), filepath.Join(dir, release.Chart().Name()), "--values", filepath.Join(dir, "values.yaml"))
}

// targetOf names a generated release.
func targetOf(release fleet.Release) target { return target{release.Name, release.Namespace} }

// saveChart writes what savedDiff reads.
func (r runner) saveChart(release fleet.Release) error {
	dir := filepath.Join(r.dir, "charts", release.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	values, err := yaml.Marshal(release.Config())
	if err != nil {
		return err
	}
	return errors.Join(chartutil.SaveDir(release.Chart(), dir), os.WriteFile(filepath.Join(dir, "values.yaml"), values, 0o600))
}

// watchMemory observes the largest resident memory of a process until stop is called. The rusage of the process would not do: Linux
// counts the memory of the process that started it as its own (setmax_mm_hiwater_rss in exec_mmap), and this one holds long lists.
func watchMemory(pid int) (stop func() int) {
	peak, done, ended := 0, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			peak = max(peak, highWater(pid))
			select {
			case <-done:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	return func() int {
		close(done)
		<-ended
		return peak
	}
}

// highWater returns the largest resident memory that Linux has seen of a process so far, in bytes.
func highWater(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, ok := strings.Cut(string(text), "\nVmHWM:")
	if !ok {
		return 0 // the process has ended
	}
	kilobytes := 0
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		return 0
	}
	return kilobytes << 10
}

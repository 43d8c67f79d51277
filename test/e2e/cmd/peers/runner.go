package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

// timeLimit is how long one command may take.
const timeLimit = 3 * time.Minute

// paths are the binaries. An empty one is left out.
type paths struct {
	helmdrift, helm3, helm4, kubectl, helmDiff, helmDrift string
}

// runner runs binaries against the cluster, with a home folder of their own.
type runner struct {
	paths
	kubeconfig, dir string
}

// newRunner links helm and kubectl into a folder for each major version of Helm, because helm-drift finds them by PATH.
func newRunner(p paths, kubeconfig, dir string) (runner, error) {
	r := runner{paths: p, kubeconfig: kubeconfig, dir: dir}
	for major, helm := range map[string]string{"3": p.helm3, "4": p.helm4} {
		folder := r.programs(major)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return r, err
		}
		for name, target := range map[string]string{"helm": helm, "kubectl": p.kubectl} {
			if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
				return r, err
			}
		}
	}
	return r, os.MkdirAll(filepath.Join(dir, "home"), 0o755)
}

// programs is the folder with the helm of a major version, and kubectl.
func (r runner) programs(major string) string { return filepath.Join(r.dir, "helm-"+major) }

// output is what a process left behind.
type output struct {
	stdout, stderr string
	// exit is the exit code, or -1 if the process was ended or did not start.
	exit int
}

// run runs a program for a situation. The program is a name in the folder of programs, or a path.
func (r runner) run(ctx context.Context, s situation, stdin, program string, args ...string) output {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	programs := r.programs(s.major)
	if !strings.Contains(program, "/") {
		program = filepath.Join(programs, program)
	}
	home := filepath.Join(r.dir, "home")
	kubeconfig, err := r.kubeconfigOf(s)
	if err != nil {
		return output{stderr: err.Error(), exit: -1}
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	cmd.WaitDelay = time.Second
	cmd.Env = []string{
		"HOME=" + home, "PATH=" + programs + ":" + os.Getenv("PATH"), "TMPDIR=" + r.dir, "KUBECONFIG=" + kubeconfig,
		"HELM_NAMESPACE=" + s.namespace, "HELM_BIN=" + filepath.Join(programs, "helm"),
	}
	err = cmd.Run()
	out := output{stdout: stdout.String(), stderr: stderr.String(), exit: cmd.ProcessState.ExitCode()}
	if exited := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exited) || out.exit < 0) {
		out.stderr, out.exit = fmt.Sprintf("%v\n%s", err, out.stderr), -1
	}
	return out
}

// kubeconfigOf writes a kubeconfig whose context has the namespace of the release: with --namespace, kubectl refuses objects that have
// another namespace.
func (r runner) kubeconfigOf(s situation) (string, error) {
	path := filepath.Join(r.dir, "kubeconfig-"+s.namespace)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	config, err := clientcmd.LoadFromFile(r.kubeconfig)
	if err != nil {
		return "", err
	}
	for _, known := range config.Contexts {
		known.Namespace = s.namespace
	}
	return path, clientcmd.WriteToFile(*config, path)
}

// helm runs helm and returns what it prints.
func (r runner) helm(ctx context.Context, s situation, args ...string) (string, error) {
	out := r.run(ctx, s, "", "helm", args...)
	if out.exit != 0 {
		return out.stdout, fmt.Errorf("helm %s: %s", args[0], firstLine(out.stderr))
	}
	return out.stdout, nil
}

// firstLine returns the first line that says something. Warnings, and lines that helm-drift logs for information, do not.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(strings.ToLower(line), "warning") && !strings.Contains(line, `"level":"info"`) {
			return line
		}
	}
	return "no message"
}

// versions returns the versions of the tools, as their modules or they themselves say.
func (r runner) versions(ctx context.Context) string {
	texts := []string{
		firstLine(r.run(ctx, situation{major: "3"}, "", r.helmdrift, "version").stdout),
		"Helm " + moduleVersion(r.helm3, "helm.sh/helm/v3"),
		"Helm " + moduleVersion(r.helm4, "helm.sh/helm/v4"),
		"kubectl " + moduleVersion(r.kubectl, "k8s.io/kubectl"),
	}
	if r.helmDiff != "" {
		texts = append(texts, "helm-diff "+strings.TrimSpace(r.run(ctx, situation{major: "3"}, "", r.helmDiff, "version").stdout))
	}
	if r.helmDrift != "" {
		texts = append(texts, "helm-drift "+helmDriftVersion(r.run(ctx, situation{major: "3"}, "", r.helmDrift, "version").stdout))
	}
	return strings.Join(texts, ", ")
}

// moduleVersion returns the version of a module that a Go binary links.
func moduleVersion(binary, module string) string {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return "of unknown version"
	}
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return dependency.Version
		}
	}
	return info.Main.Version
}

// helmDriftVersion finds the version in what helm drift version prints: drift version: {"version":"0.1.2",…}.
func helmDriftVersion(text string) string {
	_, rest, _ := strings.Cut(text, `"version":"`)
	version, _, _ := strings.Cut(rest, `"`)
	return version
}
